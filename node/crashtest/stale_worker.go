//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// staleWorker claims a job at intervals and abandons it, as a worker that dies does.
// If late is set, it finishes every second job long after its lease has expired; the
// store must refuse that if the run has been reaped.
type staleWorker struct {
	store  rota.Store
	ledger *ledger
	every  time.Duration // zero: never
	typ    string
	late   bool // finish every second job late
	claims int
}

const (
	staleWorkerName  = "stale-worker"
	staleWorkerLease = rota.LeaseMin
	finishLateAfter  = 3 * time.Second // long after the lease has expired
)

// newStaleWorker parses every:type or every:type:late.
func newStaleWorker(text string, ledgerFile *ledger) (*staleWorker, error) {
	w := &staleWorker{ledger: ledgerFile}
	if text == "" {
		return w, nil
	}
	parts := strings.Split(text, ":")
	every, err := time.ParseDuration(parts[0])
	if err != nil || len(parts) < 2 {
		return nil, fmt.Errorf("%s is %q; write every:type or every:type:late", envStaleWorker, text)
	}
	w.every, w.typ, w.late = every, parts[1], len(parts) > 2
	return w, nil
}

func (w *staleWorker) run(ctx context.Context) {
	if w.every == 0 {
		return
	}
	for tick := time.NewTicker(w.every); ctx.Err() == nil; {
		select {
		case <-tick.C:
			w.claimAndAbandon(ctx)
		case <-ctx.Done():
		}
	}
}

// claimAndAbandon claims one job, and never extends its lease.
func (w *staleWorker) claimAndAbandon(ctx context.Context) {
	claimed, err := rota.Do[*rota.Claimed](ctx, w.store, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: staleWorkerName, Types: []string{w.typ}, Limit: 1, Lease: staleWorkerLease, Seed: rota.NewToken(),
	})
	if err != nil || len(claimed.Jobs) == 0 {
		return // try again at the next tick
	}
	job := claimed.Jobs[0]
	w.ledger.recordStart(job, staleWorkerName)
	if w.claims++; w.late && w.claims%2 == 0 {
		time.AfterFunc(finishLateAfter, func() { w.finishLate(ctx, job) })
	}
}

func (w *staleWorker) finishLate(ctx context.Context, job *rota.Job) {
	w.ledger.recordEnd(job, "ok")
	_, _ = rota.Do[*rota.Finished](ctx, w.store, &rota.Finish{
		Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: job.Lease(), Outcome: rota.OutcomeCompleted}},
	})
}
