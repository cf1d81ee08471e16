package rules

import "github.com/rotajobs/rota"

// enter gives a job that enters the queue its position, and holds it back for
// what is known, and until its time has come.
func enter(w *UnitOfWork, j *rota.Job, hold rota.Hold) {
	j.Position = endOf(w, j)
	j.Hold = hold
	if j.RunAt.After(w.Now) {
		j.Hold |= rota.HoldDelay
	}
	settleHold(w, j)
}

// endOf is the position of a job that comes last at its priority. Jobs of Rota's
// own all have the position before the first: the positions of others are as if
// they were not there.
func endOf(w *UnitOfWork, j *rota.Job) int64 {
	if rota.InternalType(j.Type) {
		return 0
	}
	return w.append(j.Priority)
}

// free takes one reason away to hold a job back.
func free(w *UnitOfWork, id rota.ID, reason rota.Hold) *rota.Job {
	j := w.edit(id)
	j.Hold &^= reason
	settleHold(w, j)
	return j
}

// settleHold lets a job that nothing holds back any more stand in the order,
// unless its concurrency key is limited: then it joins those who wait for the
// key, and the balance at the end of the command decides.
func settleHold(w *UnitOfWork, j *rota.Job) {
	if j.Hold != 0 {
		return
	}
	if j.ConcurrencyKey != "" {
		w.stir(j.ConcurrencyKey)
		if limitedKey(w, j.ConcurrencyKey) {
			j.Hold = rota.HoldKey
			return
		}
	}
	ready(w, j)
}

// ready marks since when a job stands in the order.
func ready(w *UnitOfWork, j *rota.Job) {
	if j.QueuedAt.IsZero() {
		j.QueuedAt = w.Now
	}
}
