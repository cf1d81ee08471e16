package rules

import (
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// mayEdit refuses what mayChange cannot: params that become too long, and a run
// now of a job that waits for more than its time.
func mayEdit(u *UnitOfWork, c *rota.Edit, j *rota.Job) *rota.Error {
	if c.MergeParams != nil {
		if refusal := mergedTooLong(j.Params, c.MergeParams, "merge_params"); refusal != nil {
			return refusal
		}
	}
	if !c.RunNow {
		return nil
	}
	if what := waitsFor(u, j); what != "" {
		return &rota.Error{
			Code: rota.Conflict, Field: "job_id", Reason: "job " + j.ID.String() + " waits for " + what + ", not only for its time",
			Hint: "rota job explain " + j.ID.String() + " shows what it waits for",
		}
	}
	return nil
}

// mergedTooLong refuses params that are too long after a merge.
func mergedTooLong(old, changes []byte, field string) *rota.Error {
	if n := len(rota.MergeParams(old, changes)); n > rota.ParamsMax {
		return rota.Invalidf(field, "have %d bytes together with those of the job; at most %d are allowed", n, rota.ParamsMax)
	}
	return nil
}

// waitsFor names what a job waits for other than its time and its concurrency
// key, empty if nothing.
func waitsFor(u *UnitOfWork, j *rota.Job) string {
	var what []string
	if j.Hold&rota.HoldGroup != 0 {
		what = append(what, "earlier members of "+GroupSubject(j.GroupID))
	}
	if j.Hold&rota.HoldDependency != 0 {
		dependency := "the dependencies of schedule " + j.Schedule
		if missing := unmet(u, j); missing != "" {
			dependency = "schedule " + missing
		}
		what = append(what, dependency)
	}
	if j.Hold&rota.HoldOverlap != 0 {
		what = append(what, "an earlier execution of schedule "+j.Schedule)
	}
	return strings.Join(what, " and ")
}

// newRunAt is the earliest start that an edit sets, zero if it sets none.
func newRunAt(u *UnitOfWork, c *rota.Edit) time.Time {
	switch {
	case c.RunNow:
		return u.Now
	case c.Delay != nil:
		return micros(u.Now.Add(*c.Delay))
	}
	return micros(c.RunAt)
}

// setRunAt changes when a queued job may start. A delayed job whose time has
// come becomes ready as in decideReady. A job that was not delayed waits for a
// time in the future, and keeps its place for a time in the past.
func setRunAt(u *UnitOfWork, j *rota.Job, at time.Time) {
	delayed := j.Hold&rota.HoldDelay != 0
	switch {
	case !at.After(u.Now) && delayed:
		j.RunAt = u.Now
		u.together(
			func() { j.Position = endPosition(u, j) },
			func() { releaseHold(u, j.ID, rota.HoldDelay) },
		)
	case !at.After(u.Now):
	case delayed:
		j.RunAt = at
		u.wake = true // it may fall due earlier than before
	default:
		j.RunAt, j.QueuedAt = at, time.Time{}
		j.Hold = j.Hold&^rota.HoldKey | rota.HoldDelay
		u.markKeyChanged(j)
	}
}
