package rules

import "github.com/rotajobs/rota"

// enterQueue gives a job that enters the queue its position, and holds it back for
// what is known, and until its time has come.
func enterQueue(u *UnitOfWork, j *rota.Job, hold rota.Hold) {
	j.Position = endPosition(u, j)
	j.Hold = hold
	if j.RunAt.After(u.Now) {
		j.Hold |= rota.HoldDelay
	}
	resolveHold(u, j)
}

// endPosition is the position of a job that comes last at its priority. Jobs of Rota's
// own all have the position before the first: the positions of others are as if
// they were not there.
func endPosition(u *UnitOfWork, j *rota.Job) int64 {
	if rota.InternalType(j.Type) {
		return 0
	}
	return u.appendPosition(j.Priority)
}

// releaseHold takes one reason away to hold a job back.
func releaseHold(u *UnitOfWork, id rota.ID, reason rota.Hold) *rota.Job {
	j := u.edit(id)
	j.Hold &^= reason
	resolveHold(u, j)
	return j
}

// resolveHold lets a job that nothing holds back any more stand in the order,
// unless its concurrency key is limited: then it joins those who wait for the
// key, and the balance at the end of the command decides.
func resolveHold(u *UnitOfWork, j *rota.Job) {
	if j.Hold != 0 {
		return
	}
	if j.ConcurrencyKey != "" {
		u.markKeyChanged(j.ConcurrencyKey)
		if limitedKey(u, j.ConcurrencyKey) {
			j.Hold = rota.HoldKey
			return
		}
	}
	markReady(u, j)
}

// markReady marks since when a job stands in the order.
func markReady(u *UnitOfWork, j *rota.Job) {
	if j.QueuedAt.IsZero() {
		j.QueuedAt = u.Now
	}
}
