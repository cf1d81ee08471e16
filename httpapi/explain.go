package httpapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

func explainJob(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	reasons, err := c.Store.Explain(c.ctx, id)
	if err != nil {
		return reply{}, err
	}
	v := Explanation{JobID: ID{id}, Reasons: make([]Reason, len(reasons))}
	if attempts, err := c.Store.Execution(c.ctx, id); err == nil {
		tail := attempts[len(attempts)-1]
		v.JobID = ID{tail.ID}
		c.explainWorkers(tail, reasons)
	}
	for i, r := range reasons {
		v.Reasons[i] = NewReason(r)
	}
	return ok(v)
}

// explainWorkers says of a job that waits for its turn, and that this server does
// not run itself, who there is to take it: the store does not know that.
func (c *call) explainWorkers(job *rota.Job, reasons []rota.Reason) {
	if c.Engine == nil || job.Status != rota.StatusQueued || c.Engine.Handles(job.Type) {
		return
	}
	workers := c.registry.workersByType()[job.Type]
	if workers > 0 && c.longPoll.countFor(job.Type) > 0 { // they are about to
		return
	}
	claimedAt, runs := c.registry.lastClaim(job.Type)
	when := claimedAt.UTC().Format(time.RFC3339)
	for i := range reasons {
		r := &reasons[i]
		switch {
		case r.Code != rota.ReasonOrder:
		case workers == 0:
			r.Text = "This server does not handle type " + job.Type + ", and no worker elsewhere has asked for it since " + when + ", so nobody takes it."
			r.Remedy = "Start a worker that handles it (docs/workers.md), register a handler for it in a program (node.Config.Register), or cancel it."
			r.Jobs = nil
		case runs == 0:
			r.Text = handledBy(workers, job.Type) + ", and was last asked for at " + when + ". " + r.Text
		default:
			r.Text = handledBy(workers, job.Type) + ", busy with " + plural(runs, "job") + ". " + r.Text
			r.Remedy = strings.Replace(r.Remedy, "; if none does, check that one is running", "", 1) + " More workers start more at once (docs/workers.md)."
		}
	}
}

func handledBy(workers int, typ string) string {
	return "Type " + typ + " is handled by " + plural(workers, "worker") + " elsewhere"
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
