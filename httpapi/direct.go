package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
)

// DirectRequest asks for a run at once, past the queue.
type DirectRequest struct {
	Type    string    `json:"type" doc:"A type that this server runs itself." example:"sleep"`
	Params  Document  `json:"params,omitempty" doc:"What the handler is given: a JSON object."`
	Wait    *Duration `json:"wait,omitempty" doc:"How long to wait for a slot, at most 1h; 30s if left out."`
	Timeout *Duration `json:"timeout,omitempty" doc:"How long the run may take; left out: as its type says."`
}

const directWait = 30 * time.Second

func (a *api) directRoutes() {
	route(a, operation{
		method: "POST", path: "/direct", id: "direct", tag: "Jobs", summary: "Run a job now and answer with its result",
		description: "Reserves the next slot of this server, runs the job past the queue and answers when it has ended. The status is 200 also if the run failed: its run says so. 409 busy if no slot came free in time.",
		example:     `{"type": "sleep", "params": {"for": "2s"}, "wait": "10s"}`, response: Job{}, errors: []int{409}, class: classDirect,
	}, runDirect)
}

func runDirect(c *call, body *DirectRequest) (answer reply, err error) {
	if c.Engine == nil {
		return reply{}, rota.Errorf(rota.Unavailable, "direct", "this server runs no jobs itself")
	}
	wait := directWait
	if body.Wait != nil {
		wait = time.Duration(*body.Wait)
	}
	if wait < 0 || wait > rota.ReservationMax {
		return reply{}, rota.Invalidf("wait", "is %s; allowed are 0s to %s", rota.FormatDuration(wait), rota.FormatDuration(rota.ReservationMax))
	}
	trace, done := c.startEnqueue(1)
	defer func() { done(err) }()
	job := rota.NewJob{Type: body.Type, Params: body.Params.raw(), Timeout: spanOf(body.Timeout), Trace: trace}
	if err := (&rota.Enqueue{Jobs: []rota.NewJob{job}}).Validate(); err != nil {
		return reply{}, renameFields(err, "jobs[0]", "")
	}
	if err := c.checkJob(&job); err != nil {
		return reply{}, err
	}
	if err := c.bindKey(); err != nil {
		return reply{}, err
	}
	clearDeadlines(c.w)
	job.ID = c.meta().ID
	ran, err := c.runOnce(job, wait)
	switch {
	case err != nil && rota.CodeOf(err) == rota.Busy:
		return reply{}, resourceBusy{err}
	case err != nil:
		return reply{}, renameFields(err, "job", "")
	}
	return ok(NewJob(ran))
}

// runOnce runs a job directly, unless an earlier sending of the request did, or
// does: then its end is waited for.
func (c *call) runOnce(job rota.NewJob, wait time.Duration) (*rota.Job, error) {
	if c.replay {
		if _, err := c.Store.Job(c.ctx, job.ID); rota.CodeOf(err) != rota.NotFound {
			return c.awaitEnd(job.ID)
		}
	}
	ran, err := c.Engine.Direct(c.ctx, job, wait)
	if err != nil && c.replay && c.ctx.Err() == nil {
		if _, missing := c.Store.Job(c.ctx, job.ID); missing == nil {
			return c.awaitEnd(job.ID)
		}
	}
	return ran, err
}

// Between two looks at a job that another server may run: at first often, for
// those that end soon, then with patience.
const (
	jobCheckMin = 100 * time.Millisecond
	jobCheckMax = time.Second
)

// awaitEnd waits until a job has ended. If another server that shares the store
// runs it, no event of that comes here, so it is looked at now and then.
func (c *call) awaitEnd(id rota.ID) (*rota.Job, error) {
	seq := c.Events.Last()
	for pause := jobCheckMin; ; pause = min(jobCheckMax, pause*3/2) {
		job, err := c.Store.Job(c.ctx, id)
		if err != nil || job.Ended() {
			return job, err
		}
		if seq, err = c.awaitEvent(id, seq, pause); err != nil {
			return nil, err
		}
	}
}

// awaitEvent waits until something has happened to a job since an event, or may
// have, for so long at most: what happens to others does not count.
func (c *call) awaitEvent(id rota.ID, seq uint64, timeout time.Duration) (uint64, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		changed := c.Events.Changed()
		entries, gap := c.Events.Page(seq, eventPageMax)
		if gap {
			return c.Events.Last(), nil
		}
		for i := range entries {
			if seq = entries[i].Seq; entries[i].JobID == id {
				return seq, nil
			}
		}
		if len(entries) == eventPageMax {
			continue
		}
		select {
		case <-changed:
		case <-timer.C:
			return seq, nil
		case <-c.ctx.Done():
			return seq, c.ctx.Err()
		}
	}
}
