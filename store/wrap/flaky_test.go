package wrap_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

var errLost = errors.New("lost by the test")

// lossy loses one batch in four before it is applied, and one answer in four
// after.
func lossy(s rota.Store) rota.Store {
	lose := func() error {
		if rand.IntN(4) == 0 {
			return errLost
		}
		return nil
	}
	return wrap.Flaky(s, wrap.Fault{
		Before: func(rota.Batch) error { return lose() },
		After:  func(rota.Batch, []rota.Result) error { return lose() },
	})
}

// mustApply sends a command until it is answered.
func mustApply[R rota.Reply](t *testing.T, s rota.Store, c rota.Command) R {
	for {
		results, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{c}})
		if errors.Is(err, errLost) {
			continue
		}
		if err != nil || results[0].Err != nil {
			t.Errorf("%s: %v %v", c.Verb(), err, results)
		}
		return results[0].Reply.(R)
	}
}

func TestResendingThroughLossyStoreAppliesOnce(t *testing.T) {
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := lossy(wrap.Coalesce(file))
	const workers, each = 8, 12
	var group sync.WaitGroup
	var mu sync.Mutex
	runs := map[rota.ID]int{}
	for range workers {
		group.Go(func() {
			for range each {
				mustApply[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}, {Type: "mail"}}})
			}
			for range each {
				claim := &rota.Claim{
					Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 2, Lease: time.Minute,
					Seed: rota.Token(rota.NewID()),
				}
				finish := &rota.Finish{Meta: rota.NewMeta("")}
				for _, j := range mustApply[*rota.Claimed](t, s, claim).Jobs {
					finish.Items = append(finish.Items, rota.FinishItem{
						LeaseRef: rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}, Outcome: rota.OutcomeCompleted,
					})
					mu.Lock()
					runs[j.ID]++
					mu.Unlock()
				}
				for _, a := range mustApply[*rota.Finished](t, s, finish).Items {
					if a.Code != "" {
						t.Errorf("run %s: %s", a.RunID, a.Code)
					}
				}
			}
		})
	}
	group.Wait()
	jobs, err := file.Jobs(context.Background(), rota.JobQuery{Limit: rota.PageMax})
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != workers*each*2 || len(runs) != len(jobs) {
		t.Fatalf("%d jobs were requested, %d created, %d run", workers*each*2, len(jobs), len(runs))
	}
	for _, j := range jobs {
		if j.State() != rota.StateCompleted || runs[j.ID] != 1 {
			t.Errorf("job %s is %s and was run %d times", j.ID, j.State(), runs[j.ID])
		}
	}
}
