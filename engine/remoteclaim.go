package engine

import (
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// remoteClaimer claims from a server by long poll. It takes all free slots and polls
// for as many jobs, one poll at a time. While a poll waits, the server has no job for
// this worker, so slots that become free meanwhile miss nothing. As soon as a poll
// brings jobs, the next one asks for all free slots. The dispatcher records ends
// independently.
type remoteClaimer struct {
	e      *Engine
	outage outageLog
}

func newRemoteClaimer(e *Engine) *remoteClaimer { return &remoteClaimer{e: e} }

// run polls until ctx ends, which also ends the poll in flight. A job that the server
// hands out at that very moment does not reach this process: it fails, and is
// retried, when its lease expires.
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
		// A server that answers at once without jobs, such as one that is stopping,
		// gets a pause before the next poll.
		pause(ctx, wait)
		wait = min(2*wait, retryMax)
	}
}

// takeFreeSlots waits for a free slot and takes all that are free. 0 means that no
// more slots are given out.
func (c *remoteClaimer) takeFreeSlots(ctx context.Context) int {
	if c.e.pool.awaitSlot(ctx) != nil {
		return 0
	}
	return 1 + c.e.pool.takeSlots(rota.ClaimMax-1)
}

// claimAndStart sends one claim until it is decided, and starts the jobs it brings. It
// reports whether there were any.
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

// acceptable leaves out jobs that this worker cannot run: more than there are slots, or
// of types without a handler here. The server gives them to other workers when their
// leases expire.
func (c *remoteClaimer) acceptable(jobs []*rota.Job, slots int) []*rota.Job {
	return slices.DeleteFunc(jobs, func(job *rota.Job) bool {
		if slots > 0 && job.Run != nil && c.e.Handles(job.Type) {
			slots--
			return false
		}
		c.e.config.Logger.Error("the server handed out a job that this worker did not ask for; it waits until its lease expires", "job", job.ID, "type", job.Type)
		return true
	})
}

// claim sends the same claim until it is answered. A server that has applied it
// already answers with the jobs it handed out then.
func (c *remoteClaimer) claim(ctx context.Context, slots int) []*rota.Job {
	claimed, err := do[*rota.Claimed](ctx, c.e, c.e.dispatcher.newClaim(slots))
	switch {
	case err == nil:
		c.outage.recovered(c.e.config.Logger, "jobs are claimed again")
		return claimed.Jobs
	case ctx.Err() == nil:
		c.outage.failed(c.e.config.Logger, "the server refused a claim; retrying until it accepts one", "error", err)
	}
	return nil
}
