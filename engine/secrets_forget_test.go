package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// keptSecrets notes the runs that are forgotten.
type keptSecrets struct {
	oneSecret
	mu        sync.Mutex
	forgotten map[rota.ID]int
}

func (s *keptSecrets) Forget(run rota.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten[run]++
}

func (s *keptSecrets) times(run rota.ID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forgotten[run]
}

// TestSecretsAreForgottenHoweverARunEnds: one run completes, one panics, and one loses its lease, so that its end is never sent.
func TestSecretsAreForgottenHoweverARunEnds(t *testing.T) {
	h := newHarness(t)
	s := &keptSecrets{oneSecret: secretValue, forgotten: map[rota.ID]int{}}
	runs := make(chan rota.ID, 1)
	reg := registry(func(ctx context.Context, job *rota.Job) error {
		if _, err := engine.Secret(ctx, "KEY"); err != nil {
			return err
		}
		runs <- job.Run.ID
		switch string(job.Params) {
		case `{"do":"panic"}`:
			panic("boom")
		case `{"do":"lose"}`:
			c := &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: job.Lease(), Outcome: rota.OutcomeCompleted}}}
			if _, err := rota.Do[*rota.Finished](ctx, h.store, c); err != nil {
				return err
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	})
	h.start(reg, engine.Config{Secrets: s, Lease: time.Second})
	for _, params := range []string{`{}`, `{"do":"panic"}`, `{"do":"lose"}`} {
		h.add(rota.NewJob{Type: reg.Types()[0], Params: []byte(params), MaxRetries: new(0)})
		run := <-runs
		h.eventually("the secrets of "+params+" are forgotten", func() bool { return s.times(run) == 1 })
	}
}
