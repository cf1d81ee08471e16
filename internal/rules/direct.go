package rules

import (
	"github.com/rotajobs/rota"
)

func needDirect(n *Need, c *rota.Direct) {
	n.reserved(c.ReservationID)
	n.active()
	if n.job(c.JobID()) != nil || !needNew(n, &c.Job) {
		return
	}
	if needRooms(n, []string{typeOf(n.unit, &c.Job)}) {
		if key := newJob(n.unit, "", &c.Job, c.JobID()).ConcurrencyKey; limitedKey(n.unit, key) {
			n.open(Open{Key: key})
		}
	}
}

// decideDirect starts a job past the queue, for the holder of a reservation. It
// obeys the limits as any start does.
func decideDirect(w *UnitOfWork, c *rota.Direct) (rota.Reply, *rota.Error) {
	id := c.JobID()
	if own := w.job(id); own != nil {
		return directAgain(w, c, own)
	}
	r := w.reservations.get(c.ReservationID)
	if refusal := mayStart(w, c, r); refusal != nil {
		return nil, refusal
	}
	if refusal := mayUse(w, &c.Job); refusal != nil {
		return nil, within("job", refusal)
	}
	j := newJob(w, c.Actor, &c.Job, id)
	j.Policy.MaxAttempts = 1
	if refusal := roomToStart(w, j); refusal != nil {
		return nil, refusal
	}
	enter(w, j, 0)
	w.insert(j)
	return &rota.Directed{Job: start(w, c, r, id), Now: w.Now}, nil
}

func directAgain(w *UnitOfWork, c *rota.Direct, own *rota.Job) (rota.Reply, *rota.Error) {
	switch {
	case own.Run == nil || own.Run.ID != rota.RunID(c.ID, own.ID):
		return nil, otherJob("job.id", own.ID)
	case own.Run.Open():
		return &rota.Directed{Job: own, Now: w.Now}, nil
	}
	return &rota.Directed{Job: public(own), Now: w.Now}, nil
}

// mayStart refuses a reservation that is not there, is over, or was used.
func mayStart(w *UnitOfWork, c *rota.Direct, r *rota.Reservation) *rota.Error {
	switch {
	case r == nil:
		return noReservation(c.ReservationID)
	case r.Status != rota.ReservationActive || !r.ExpiresAt.After(w.Now):
		return &rota.Error{
			Code: rota.Conflict, Field: "reservation_id", Reason: "reservation " + r.ID.String() + " has ended", Hint: "reserve again",
		}
	case !r.JobID.IsZero():
		return &rota.Error{
			Code: rota.Conflict, Field: "reservation_id", Reason: "reservation " + r.ID.String() + " was used for job " + r.JobID.String(),
		}
	}
	return nil
}

// roomToStart refuses with Busy what a limit holds back.
func roomToStart(w *UnitOfWork, j *rota.Job) *rota.Error {
	limits := w.limits()
	limit := limits.Type(j.Type)
	busy := func(reason string) *rota.Error {
		return &rota.Error{Code: rota.Busy, Field: "job", Reason: reason, Hint: "try again later"}
	}
	if t := w.types.get(j.Type); t != nil && t.Paused {
		return busy("type " + j.Type + " is paused")
	}
	if limits.Global > 0 && w.open.get(Open{}) >= limits.Global {
		return busy("as many jobs run as may run at once")
	}
	if limit.Concurrency > 0 && w.open.get(Open{Type: j.Type}) >= limit.Concurrency {
		return busy("as many jobs of type " + j.Type + " run as may run at once")
	}
	if most, limited := limits.Key(j.ConcurrencyKey); limited && w.open.get(Open{Key: j.ConcurrencyKey}) >= most {
		return busy("as many jobs of the key " + j.ConcurrencyKey + " run as may run at once")
	}
	if limit.Rate.Count > 0 && bucketOf(w, j.Type, limit.Rate).Room(limit.Rate) == 0 {
		return busy("type " + j.Type + " has started as often as it may")
	}
	return nil
}

// start dispatches a job that has just entered.
func start(w *UnitOfWork, c *rota.Direct, r *rota.Reservation, id rota.ID) *rota.Job {
	j := w.depart(id)
	w.leave(j)
	j.Hold = 0
	ready(w, j)
	j.Status, j.StartedAt = rota.StatusRunning, w.Now
	j.Run = &rota.Run{
		ID: rota.RunID(c.ID, id), Runner: r.Node, Incarnation: r.Incarnation, Token: c.TokenFor(id),
		StartedAt: w.Now, HeartbeatAt: w.Now, StaleAfter: micros(w.Now.Add(c.Lease)),
	}
	next := *r
	next.JobID = id
	if j.Run.StaleAfter.After(next.ExpiresAt) {
		next.ExpiresAt = j.Run.StaleAfter
	}
	w.reservations.set(w, r.ID, &next)
	spend(w, map[string]int{j.Type: 1})
	w.stir(j.ConcurrencyKey)
	return j
}
