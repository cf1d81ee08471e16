package engine

import (
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// remoteClaimer claims from a store that is far away, where a claim waits until there
// is something to claim. It takes the slots that are free and calls for as many
// jobs, one call at a time: while a call waits there is nothing to be had, so
// slots that come free meanwhile miss nothing, and as soon as it has brought
// something the next one asks for all of them. Ends are recorded meanwhile, by
// the desk.
type remoteClaimer struct {
	e      *Engine
	outage outageLog
}

func newRemoteClaimer(e *Engine) *remoteClaimer { return &remoteClaimer{e: e} }

// run calls until ctx ends, and with it the call that is under way. What the
// server hands out in that very moment nobody here hears of: it is failed, and
// retried, when its lease runs out.
func (c *remoteClaimer) run(ctx context.Context) {
	for wait := retryFirst; ctx.Err() == nil; {
		slots := c.takeFreeSlots(ctx)
		if slots == 0 {
			return
		}
		began := time.Now()
		if c.claimAndStart(ctx, slots) || time.Since(began) >= retryMax {
			wait = retryFirst
			continue
		}
		// Who answers at once that there is nothing, such as a server about to
		// stop, is not asked again at once.
		pause(ctx, wait)
		wait = min(2*wait, retryMax)
	}
}

// takeFreeSlots takes all slots that are free, once there is one. None says that no more
// are given out.
func (c *remoteClaimer) takeFreeSlots(ctx context.Context) int {
	if c.e.pool.awaitSlot(ctx) != nil {
		return 0
	}
	return 1 + c.e.pool.takeSlots(rota.ClaimMax-1)
}

// claimAndStart sends one claim until it is decided, and starts what it brings. It reports
// whether that was anything.
func (c *remoteClaimer) claimAndStart(ctx context.Context, slots int) bool {
	jobs := c.acceptable(c.claim(ctx, slots), slots)
	if len(jobs) > 0 {
		c.e.dispatcher.lastStart.restart()
	}
	for _, job := range jobs {
		c.e.pool.start(job, nil)
	}
	c.e.pool.returnSlots(slots - len(jobs))
	return len(jobs) > 0
}

// acceptable leaves out what was not asked for, and could not be run: more jobs than
// there are slots, or of types that have no handler here. It goes to others when
// its lease runs out.
func (c *remoteClaimer) acceptable(jobs []*rota.Job, slots int) []*rota.Job {
	return slices.DeleteFunc(jobs, func(job *rota.Job) bool {
		if slots > 0 && job.Run != nil && c.e.Handles(job.Type) {
			slots--
			return false
		}
		c.e.config.Logger.Error("the server has handed out a job that nobody here has asked for", "job", job.ID, "type", job.Type)
		return true
	})
}

// claim sends the same claim again until it is answered: a server that knows it
// by then answers with what it has handed out.
func (c *remoteClaimer) claim(ctx context.Context, slots int) []*rota.Job {
	claimed, err := do[*rota.Claimed](ctx, c.e, c.e.dispatcher.newClaim(slots))
	switch {
	case err == nil:
		c.outage.recovered(c.e.config.Logger, "jobs are claimed again")
		return claimed.Jobs
	case ctx.Err() == nil:
		c.outage.failed(c.e.config.Logger, "a claim was refused; trying until it is not", "error", err)
	}
	return nil
}
