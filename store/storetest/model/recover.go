package model

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func (s *step) reap(c *rota.Reap) (rota.Reply, *rota.Error) {
	latest := s.now.Add(rota.LeaseMax)
	found := s.pick(func(j *rota.Job) bool {
		if !leased(j) {
			return false
		}
		if graceOver(j, c.Grace, s.now) {
			return true
		}
		own := !c.Incarnation.IsZero() && j.Run.Incarnation == c.Incarnation
		return j.Run.StaleAfter.After(latest) || !c.KeepStale && !own && j.Run.StaleAfter.Before(s.now)
	})
	slices.SortFunc(found, byStaleAfter)
	found, more := page(found, c.Limit)
	reply := &rota.Reaped{More: more}
	for _, j := range found {
		if graceOver(j, c.Grace, s.now) {
			s.stopRun(j, c.Grace)
			reply.Jobs = append(reply.Jobs, s.settlement(j, rota.SettledRunStopped))
			continue
		}
		if j.Run.StaleAfter.After(latest) {
			j.Run.StaleAfter = latest
			reply.Jobs = append(reply.Jobs, rota.Settlement{JobID: j.ID, Act: rota.SettledLeasePull})
			continue
		}
		s.expireRun(j)
		reply.Jobs = append(reply.Jobs, s.settlement(j, rota.SettledRunExpired))
	}
	return reply, nil
}

// graceOver reports whether a remote worker was to stop longer than the grace ago.
func graceOver(j *rota.Job, grace time.Duration, now time.Time) bool {
	if grace == 0 || j.Run.Incarnation != (rota.ID{}) {
		return false
	}
	cancelled := !j.Run.CancelAt.IsZero() && now.Sub(j.Run.CancelAt) > grace
	timedOut := j.Policy.Timeout > 0 && now.Sub(j.StartedAt) > j.Policy.Timeout+grace
	return cancelled || timedOut
}

// stopRun closes the run of a remote worker that was to stop.
func (s *step) stopRun(j *rota.Job, grace time.Duration) {
	j.Run.Outcome, j.Run.ErrorCode = rota.OutcomeCancelled, rota.CodeTimeout
	why := "timed out after " + j.Policy.Timeout.String()
	switch {
	case !timedOutFirst(j):
		j.Run.ErrorCode, why = rota.CodeCancelled, "cancelled"
	case !j.Run.CancelAt.IsZero():
		j.Run.Outcome = rota.OutcomeFailed
	}
	j.Run.Error = why + "; worker " + j.Run.Runner + " did not stop within " + grace.String()
	j.Run.FinishedAt, j.FinishedAt = s.now, s.now
}

func byStaleAfter(a, b *rota.Job) int {
	if c := a.Run.StaleAfter.Compare(b.Run.StaleAfter); c != 0 {
		return c
	}
	return byID(a, b)
}

// expireRun closes a run whose holder will not finish it.
func (s *step) expireRun(j *rota.Job) {
	j.Run.Outcome = rota.OutcomeFailed
	if !j.Run.CancelAt.IsZero() {
		j.Run.Outcome = rota.OutcomeCancelled
	}
	j.Run.ErrorCode, j.Run.Error = rota.CodeLeaseExpired, "lease expired: " // comparisons ignore the rest
	j.Run.FinishedAt = s.now
	j.FinishedAt = s.now
}

func (s *step) settlement(j *rota.Job, act rota.Settling) rota.Settlement {
	s.settle(j, settling{})
	done := rota.Settlement{JobID: j.ID, Act: act, Outcome: j.Run.Outcome, Sequel: j.Sequel}
	if retry := s.retryOf(j.ID); retry != nil {
		done.RetryID = retry.ID
	}
	return done
}

func (s *step) recover(c *rota.Recover) (rota.Reply, *rota.Error) {
	found := s.pick(func(j *rota.Job) bool {
		unsettled := j.Status == rota.StatusRunning && live(j)
		return unsettled && (!leased(j) || ofEarlierIncarnation(c, j.Run))
	})
	slices.SortFunc(found, byID)
	found, more := page(found, c.Limit)
	reply := &rota.Recovered{More: more}
	for _, j := range found {
		act := s.repair(c, j)
		reply.Jobs = append(reply.Jobs, s.settlement(j, act))
		s.auditJob(rota.AuditJobRecovered, j, string(act))
	}
	if r := s.active(); r != nil && r.Node == c.Runner && !r.Incarnation.IsZero() && r.Incarnation != c.Incarnation {
		s.expireReservation(r)
		reply.Reservation = r.ID
	}
	return reply, nil
}

func ofEarlierIncarnation(c *rota.Recover, r *rota.Run) bool {
	return r.Runner == c.Runner && !r.Incarnation.IsZero() && r.Incarnation != c.Incarnation
}

// repair closes an incomplete job, one case per row of the recovery matrix.
func (s *step) repair(c *rota.Recover, j *rota.Job) rota.Settling {
	switch {
	case j.Run == nil:
		s.createMissingRun(c, j)
		return rota.SettledRunMade
	case j.Run.Open():
		s.expireRun(j)
		return rota.SettledRunFailed
	case j.FinishedAt.IsZero():
		j.FinishedAt = j.Run.FinishedAt
		return rota.SettledJobClosed
	}
	return rota.SettledRetryMade
}

func (s *step) createMissingRun(c *rota.Recover, j *rota.Job) {
	j.Run = &rota.Run{
		ID: rota.RunID(c.ID, j.ID), Runner: c.Runner, Incarnation: c.Incarnation,
		StartedAt: j.StartedAt, HeartbeatAt: j.StartedAt, StaleAfter: j.StartedAt,
		Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeLeaseExpired, FinishedAt: s.now,
	}
	if j.FinishedAt.IsZero() {
		j.FinishedAt = s.now
	}
}
