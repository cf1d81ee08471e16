package rules

import "github.com/rotajobs/rota"

// enterQueue gives a job that enters the queue its position. It holds the job
// back for the given reasons and until its time has come.
func enterQueue(u *UnitOfWork, j *rota.Job, hold rota.Hold) {
	j.Position = endPosition(u, j)
	j.Hold = hold
	if j.RunAt.After(u.Now) {
		j.Hold |= rota.HoldDelay
	}
	resolveHold(u, j)
}

// endPosition is the position of a job that is last at its priority. Jobs of
// internal types all have position 0, so that they do not affect the positions
// of other jobs.
func endPosition(u *UnitOfWork, j *rota.Job) int64 {
	if rota.InternalType(j.Type) {
		return 0
	}
	return u.appendPosition(j.Priority)
}

// releaseHold removes one reason to hold a job back.
func releaseHold(u *UnitOfWork, id rota.ID, reason rota.Hold) *rota.Job {
	j := u.edit(id)
	j.Hold &^= reason
	resolveHold(u, j)
	return j
}

// resolveHold makes a job ready that nothing holds back any more. If its
// concurrency key is limited, the key holds it back instead, and the balance at
// the end of the command decides.
//
// In a transaction that may stay open the jobs of the key are not counted: others
// would wait for its end. The job is delayed until now, and the Ready that follows
// the commit decides.
func resolveHold(u *UnitOfWork, j *rota.Job) {
	if j.Hold != 0 {
		return
	}
	if j.ConcurrencyKey != "" && u.deferKeys {
		if _, limited := u.limits().Key(j.ConcurrencyKey, j.Type); limited {
			j.Hold, j.RunAt, u.deferred = rota.HoldDelay, u.Now, true
			return
		}
	} else if j.ConcurrencyKey != "" {
		u.markKeyChanged(j)
		if _, limited := u.limits().Key(j.ConcurrencyKey, j.Type); limited {
			j.Hold = rota.HoldKey
			return
		}
	}
	markReady(u, j)
}

// markReady records since when a job is ready.
func markReady(u *UnitOfWork, j *rota.Job) {
	if j.QueuedAt.IsZero() {
		j.QueuedAt = u.Now
	}
}
