package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// withoutToken returns a copy of a job without its token.
func withoutToken(j *rota.Job) *rota.Job {
	if j == nil {
		return nil
	}
	c := withToken(j)
	if c.Run != nil {
		c.Run.Token = rota.Token{}
	}
	return c
}

// lean returns a copy of a job without its documents.
func lean(j *rota.Job) *rota.Job {
	c := withoutToken(j)
	c.Params = nil
	if c.Run != nil {
		c.Run.Result, c.Run.Progress, c.Run.Artifacts = nil, nil, nil
	}
	return c
}

// withToken returns a copy of a job for its claimer.
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

// withTokenIfOpen includes the token only while the run is open.
func withTokenIfOpen(j *rota.Job) *rota.Job {
	if leased(j) {
		return withToken(j)
	}
	return withoutToken(j)
}

func copyType(t *rota.Type) *rota.Type {
	c := copyOf(t)
	if c != nil {
		c.Spec = t.Spec.Canonical()
	}
	return c
}

func copyTemplate(t *rota.Template) *rota.Template {
	c := copyOf(t)
	if c != nil {
		c.Spec = t.Spec.Canonical()
	}
	return c
}

func copySchedule(d *rota.Schedule) *rota.Schedule {
	c := copyOf(d)
	if c != nil {
		c.Spec = d.Spec.Canonical()
	}
	return c
}

func copyThrottle(t *rota.Throttle) *rota.Throttle {
	c := copyOf(t)
	c.Spec = t.Spec.Canonical()
	return c
}

// copyGroup returns a copy of a group with its tally. Each execution counts by its last
// attempt.
func (s *state) copyGroup(g *rota.Group) *rota.Group {
	c := copyOf(g)
	c.Tally = g.Pruned
	for _, j := range s.jobs {
		if j.GroupID == g.ID && j.Attempt == 1 {
			c.Tally.Count(s.tail(j.ExecutionID))
		}
	}
	return c
}

// copyReply replaces the rows of a reply by copies. Verbs reply with the rows themselves, so
// that the reply shows what the end of the command changes.
func (s *step) copyReply(reply rota.Reply) rota.Reply {
	switch r := reply.(type) {
	case *rota.Enqueued:
		for i := range r.Jobs {
			r.Jobs[i].Job = withoutToken(r.Jobs[i].Job)
		}
	case *rota.Claimed:
		r.Jobs = rowCopies(r.Jobs, withToken)
	case *rota.CancelledJob:
		r.Job = withoutToken(r.Job)
	case *rota.Edited:
		r.Job = withoutToken(r.Job)
	case *rota.Moved:
		r.Job = withoutToken(r.Job)
	case *rota.Fired:
		r.Jobs = rowCopies(r.Jobs, withoutToken)
	case *rota.Triggered:
		r.Jobs = rowCopies(r.Jobs, withoutToken)
	case *rota.Backfilled:
		r.Jobs = rowCopies(r.Jobs, withoutToken)
	case *rota.GroupEnqueued:
		r.Group, r.Jobs = copyOf(r.Group), rowCopies(r.Jobs, withoutToken)
	case *rota.CancelledGroup:
		r.Group = copyOf(r.Group)
	case *rota.Reserved:
		r.Reservation = copyOf(r.Reservation)
	case *rota.Directed:
		r.Job = withTokenIfOpen(r.Job)
	case *rota.Released:
		r.Reservation = copyOf(r.Reservation)
	case *rota.Redriven:
		r.Job = withoutToken(r.Job)
	case *rota.TypePut:
		r.Type = copyType(r.Type)
	case *rota.TemplatePut:
		r.Template = copyTemplate(r.Template)
	case *rota.ThrottlePut:
		r.Throttle = copyThrottle(r.Throttle)
	case *rota.WebhooksPut:
		r.Webhooks = copyWebhooks(r.Webhooks)
	case *rota.SchedulePut:
		r.Schedule = copySchedule(r.Schedule)
	case *rota.PrincipalPut:
		r.Principal = copyPrincipal(r.Principal)
	case *rota.Granted:
		r.Principals = rowCopies(r.Principals, copyPrincipal)
	case *rota.TokenPut:
		r.Token = copyOf(r.Token)
	case *rota.TokenRevoked:
		r.Token = copyOf(r.Token)
	case *rota.OwnerSet:
		r.Template, r.Schedule = copyTemplate(r.Template), copySchedule(r.Schedule)
	}
	return reply
}
