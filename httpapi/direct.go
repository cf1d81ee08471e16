package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

const directWait = 30 * time.Second

func (a *server) directRoutes() {
	route(a, operation{
		method: "POST", path: "/direct", id: "direct", scope: writeScope, tag: "Jobs", summary: "Run a job now and return its result",
		description: "Reserves the next slot of this server, runs the job outside the queue and responds when it has ended. The params of a template are its defaults, overlaid with those of the request. The status is 200 even if the run failed; the field run has its outcome. The status is 409 with code busy if no slot became free in time.",
		example:     `{"type": "sleep", "params": {"for": "2s"}, "wait": "10s"}`, response: api.Job{}, errors: []int{409}, class: classDirect,
	}, runDirect)
}

func runDirect(c *call, body *api.DirectRequest) (answer reply, err error) {
	if c.Engine == nil {
		return reply{}, rota.Errorf(rota.Unavailable, "direct", "this server runs no jobs")
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
	job := rota.NewJob{Type: body.Type, Template: body.Template, Params: body.Params.Raw(), Timeout: (*time.Duration)(body.Timeout), Trace: trace}
	if err := job.TypeOrTemplate(); err != nil {
		return reply{}, err
	}
	if err := (&rota.Enqueue{Jobs: []rota.NewJob{job}}).Validate(); err != nil {
		return reply{}, problem.Rename(err, "jobs[0]", "")
	}
	if err := c.Store.Authorize(c.ctx, &rota.Direct{Job: job}); err != nil {
		return reply{}, err
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
		return reply{}, problem.Rename(err, "job", "")
	}
	if ran, err = c.Store.Redact(c.ctx, ran); err != nil {
		return reply{}, err
	}
	return ok(api.NewJob(ran))
}

// runOnce runs a job directly. For a replayed request whose job exists, it waits for the end of that
// job instead.
func (c *call) runOnce(job rota.NewJob, wait time.Duration) (*rota.Job, error) {
	if c.replay {
		if _, err := c.server.Store.Job(c.ctx, job.ID); rota.CodeOf(err) != rota.NotFound {
			return c.awaitEnd(job.ID)
		}
	}
	ran, err := c.Engine.DirectAs(c.ctx, c.actor, c.allowDirect, job, wait)
	var refused *rota.Error
	if errors.As(err, &refused) && refused.Field == "type" && job.Type == execType && !c.handles(execType) {
		refused.Reason, refused.Hint = c.noPrograms(), "add the section exec to the configuration of the server and restart it (docs/commands.md), or enqueue the job for another server or a worker"
	}
	if err != nil && c.replay && c.ctx.Err() == nil {
		if _, missing := c.server.Store.Job(c.ctx, job.ID); missing == nil {
			return c.awaitEnd(job.ID)
		}
	}
	return ran, err
}

// allowDirect checks the right to a direct run again when its slot is free, and makes the command depend on the definition
// that the right is for.
func (c *call) allowDirect(ctx context.Context, start *rota.Direct) error {
	return c.Store.Authorize(ctx, start)
}

// Bounds of the pause between two reads of a job that another server may run. The pause starts short,
// for jobs that end soon, and grows.
const (
	jobCheckMin = 100 * time.Millisecond
	jobCheckMax = time.Second
)

// awaitEnd waits until a job has ended. If another server of the same store runs the job, this process
// receives no event of it, so awaitEnd also reads the job periodically.
func (c *call) awaitEnd(id rota.ID) (*rota.Job, error) {
	seq := c.Events.Last()
	for pause := jobCheckMin; ; pause = min(jobCheckMax, pause*3/2) {
		job, err := c.server.Store.Job(c.ctx, id)
		if err != nil || job.Ended() {
			return job, err
		}
		if seq, err = c.awaitEvent(id, seq, pause); err != nil {
			return nil, err
		}
	}
}

// awaitEvent waits for an event of a job after a sequence number, up to the timeout. It ignores events
// of other jobs.
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

func (a *server) reservationRoutes() {
	get(a, operation{
		method: "GET", path: "/reservations", id: "list-reservations", scope: readScope, tag: "Jobs", summary: "List reservations of direct runs",
		description: "Active and past, newest first.", query: pageParams(idPrefixParam), response: api.List[api.Reservation]{},
	}, func(c *call) (reply, error) {
		return idList(c, cursorReservations, c.Store.Reservations, api.NewReservation, func(r *rota.Reservation) rota.ID { return r.ID })
	})
}
