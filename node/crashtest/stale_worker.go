//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// staleWorker claims a job from time to time and abandons it, as a worker that dies.
// If late is set, it finishes every second job long after its lease has expired; the
// store must refuse that if the run has been reaped.
type staleWorker struct {
	store  rota.Store
	ledger *ledger
	every  time.Duration // zero: never
	typ    string
	late   bool // finish every second job late
	seen   int
}

const (
	staleWorkerName  = "stale-worker"
	staleWorkerLease = rota.LeaseMin
	finishLateAfter  = 3 * time.Second // long after the lease has expired
)

// newStaleWorker parses every:type or every:type:late.
func newStaleWorker(text string, ledgerFile *ledger) (*staleWorker, error) {
	g := &staleWorker{ledger: ledgerFile}
	if text == "" {
		return g, nil
	}
	parts := strings.Split(text, ":")
	every, err := time.ParseDuration(parts[0])
	if err != nil || len(parts) < 2 {
		return nil, fmt.Errorf("%s is %q; write every:type or every:type:late", envStaleWorker, text)
	}
	g.every, g.typ, g.late = every, parts[1], len(parts) > 2
	return g, nil
}

func (g *staleWorker) run(ctx context.Context) {
	if g.every == 0 {
		return
	}
	for tick := time.NewTicker(g.every); ctx.Err() == nil; {
		select {
		case <-tick.C:
			g.claimAndAbandon(ctx)
		case <-ctx.Done():
		}
	}
}

// claimAndAbandon claims one job, and never extends its lease.
func (g *staleWorker) claimAndAbandon(ctx context.Context) {
	claimed, err := rota.Do[*rota.Claimed](ctx, g.store, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: staleWorkerName, Types: []string{g.typ}, Limit: 1, Lease: staleWorkerLease, Seed: rota.NewToken(),
	})
	if err != nil || len(claimed.Jobs) == 0 {
		return // try again at the next tick
	}
	job := claimed.Jobs[0]
	g.ledger.started(job, staleWorkerName)
	if g.seen++; g.late && g.seen%2 == 0 {
		time.AfterFunc(finishLateAfter, func() { g.finishLate(ctx, job) })
	}
}

func (g *staleWorker) finishLate(ctx context.Context, job *rota.Job) {
	g.ledger.ended(job, "ok")
	_, _ = rota.Do[*rota.Finished](ctx, g.store, &rota.Finish{
		Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: job.Lease(), Outcome: rota.OutcomeCompleted}},
	})
}
