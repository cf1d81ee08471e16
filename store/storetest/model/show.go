package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// shown is a job as everybody may see it: nothing shared, no token.
func shown(j *rota.Job) *rota.Job {
	if j == nil {
		return nil
	}
	c := withToken(j)
	if c.Run != nil {
		c.Run.Token = rota.Token{}
	}
	return c
}

// shownLean is a job without its documents.
func shownLean(j *rota.Job) *rota.Job {
	c := shown(j)
	c.Params = nil
	if c.Run != nil {
		c.Run.Result, c.Run.Progress, c.Run.Artifacts = nil, nil, nil
	}
	return c
}

// withToken is a job as its claimer sees it.
func withToken(j *rota.Job) *rota.Job {
	c := rowCopy(j)
	c.Params = slices.Clone(j.Params)
	if r := c.Run; r != nil {
		r.Progress = slices.Clone(r.Progress)
		r.Result = slices.Clone(r.Result)
		r.Artifacts = slices.Clone(r.Artifacts)
		r.ExitCode = copyOf(r.ExitCode)
		r.RowsAffected = copyOf(r.RowsAffected)
	}
	return c
}

// whileOpen shows a token only as long as it is good for something.
func whileOpen(j *rota.Job) *rota.Job {
	if leased(j) {
		return withToken(j)
	}
	return shown(j)
}

func shownType(t *rota.Type) *rota.Type {
	c := copyOf(t)
	if c != nil {
		c.Spec = t.Spec.Canonical()
	}
	return c
}

func shownTemplate(t *rota.Template) *rota.Template {
	c := copyOf(t)
	if c != nil {
		c.Spec = t.Spec.Canonical()
	}
	return c
}

func shownSchedule(d *rota.Schedule) *rota.Schedule {
	c := copyOf(d)
	if c != nil {
		c.Spec = d.Spec.Canonical()
	}
	return c
}

func shownThrottle(t *rota.Throttle) *rota.Throttle {
	c := copyOf(t)
	c.Spec = t.Spec.Canonical()
	return c
}

// shownGroup counts the members, each execution by its last attempt.
func (s *state) shownGroup(g *rota.Group) *rota.Group {
	c := copyOf(g)
	c.Tally = g.Pruned
	for _, j := range s.jobs {
		if j.GroupID == g.ID && j.Attempt == 1 {
			c.Tally.Count(s.tail(j.ExecutionID))
		}
	}
	return c
}

// copiedOut replaces the rows in an answer by copies. Verbs answer with the rows
// themselves, so that what the end of the command does to them is seen.
func (s *step) copiedOut(reply rota.Reply) rota.Reply {
	switch r := reply.(type) {
	case *rota.Enqueued:
		for i := range r.Jobs {
			r.Jobs[i].Job = shown(r.Jobs[i].Job)
		}
	case *rota.Claimed:
		r.Jobs = rowCopies(r.Jobs, withToken)
	case *rota.CancelledJob:
		r.Job = shown(r.Job)
	case *rota.Edited:
		r.Job = shown(r.Job)
	case *rota.Moved:
		r.Job = shown(r.Job)
	case *rota.Fired:
		r.Jobs = rowCopies(r.Jobs, shown)
	case *rota.Triggered:
		r.Jobs = rowCopies(r.Jobs, shown)
	case *rota.Backfilled:
		r.Jobs = rowCopies(r.Jobs, shown)
	case *rota.GroupEnqueued:
		r.Group, r.Jobs = copyOf(r.Group), rowCopies(r.Jobs, shown)
	case *rota.CancelledGroup:
		r.Group = copyOf(r.Group)
	case *rota.Reserved:
		r.Reservation = copyOf(r.Reservation)
	case *rota.Directed:
		r.Job = whileOpen(r.Job)
	case *rota.Released:
		r.Reservation = copyOf(r.Reservation)
	case *rota.Redriven:
		r.Job = shown(r.Job)
	case *rota.TypePut:
		r.Type = shownType(r.Type)
	case *rota.TemplatePut:
		r.Template = shownTemplate(r.Template)
	case *rota.ThrottlePut:
		r.Throttle = shownThrottle(r.Throttle)
	case *rota.WebhooksPut:
		r.Webhooks = shownWebhooks(r.Webhooks)
	case *rota.SchedulePut:
		r.Schedule = shownSchedule(r.Schedule)
	}
	return reply
}
