package rules

import (
	"github.com/rotajobs/rota"
)

// decideDirect starts a job without queueing, for the holder of a reservation.
// The limits apply as to any start.
func decideDirect(u *UnitOfWork, c *rota.Direct) (rota.Reply, *rota.Error) {
	id := c.JobID()
	Reservations.want(u, c.ReservationID)
	Active.want(u, one)
	u.lockActive = true
	wantNew(u, &c.Job)
	if c.Job.Template == "" {
		u.wantCapacity([]string{c.Job.Type})
	}
	if own := u.job(id); own != nil {
		return repeatDirect(u, c, own)
	}
	r := Reservations.get(u, c.ReservationID)
	if refusal := mayUseReservation(u, c, r); refusal != nil {
		return nil, refusal
	}
	if refusal := mayUse(u, &c.Job); refusal != nil {
		return nil, prefixField("job", refusal)
	}
	j := newJob(u, c.Actor, &c.Job, id)
	j.Policy.MaxAttempts = 1
	if refusal := mayStartNow(u, j); refusal != nil {
		return nil, refusal
	}
	enterQueue(u, j, 0)
	u.insert(j)
	return &rota.Directed{Job: startDirect(u, c, r, id), Now: u.Now}, nil
}

func repeatDirect(u *UnitOfWork, c *rota.Direct, own *rota.Job) (rota.Reply, *rota.Error) {
	switch {
	case own.Run == nil || own.Run.ID != rota.RunID(c.ID, own.ID):
		return nil, idTaken("job.id", own.ID)
	case own.Run.Open():
		return &rota.Directed{Job: own, Now: u.Now}, nil
	}
	return &rota.Directed{Job: withoutToken(own), Now: u.Now}, nil
}

// mayUseReservation refuses a reservation that does not exist, has ended, or
// was used.
func mayUseReservation(u *UnitOfWork, c *rota.Direct, r *rota.Reservation) *rota.Error {
	switch {
	case r == nil:
		return noReservation(c.ReservationID)
	case r.Status != rota.ReservationActive || !r.ExpiresAt.After(u.Now):
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

// mayStartNow refuses with Busy a job that a limit holds back.
func mayStartNow(u *UnitOfWork, j *rota.Job) *rota.Error {
	u.wantCapacity([]string{j.Type})
	limits := u.limits()
	limit := limits.Type(j.Type)
	keyLimit, keyLimited := limits.Key(j.ConcurrencyKey, j.Type)
	openOfKey := OpenCount{Key: j.ConcurrencyKey, Type: keyLimit.OfType}
	if keyLimited {
		OpenCounts.want(u, openOfKey)
	}
	busy := func(reason string) *rota.Error {
		return &rota.Error{Code: rota.Busy, Field: "job", Reason: reason, Hint: "try again later"}
	}
	if t := Types.get(u, j.Type); t != nil && t.Paused {
		return busy("type " + j.Type + " is paused")
	}
	if limits.Global > 0 && OpenCounts.get(u, OpenCount{}) >= limits.Global {
		return busy("the global concurrency limit is reached")
	}
	if limit.Concurrency > 0 && OpenCounts.get(u, OpenCount{Type: j.Type}) >= limit.Concurrency {
		return busy("the concurrency limit of type " + j.Type + " is reached")
	}
	if keyLimited && OpenCounts.get(u, openOfKey) >= keyLimit.Concurrency {
		return busy(keyBusy(j, keyLimit))
	}
	if limit.Rate.Count > 0 && bucketOf(u, j.Type, limit.Rate).Available(limit.Rate) == 0 {
		return busy("the rate limit of type " + j.Type + " is reached")
	}
	return nil
}

// keyBusy says which limit of a concurrency key is reached.
func keyBusy(j *rota.Job, limit rota.AppliedKeyLimit) string {
	switch limit.Source {
	case rota.LimitOfEachKey:
		return "the concurrency limit of key " + j.ConcurrencyKey + ", set for each key " + limit.Name + ", is reached"
	case rota.LimitOfEachKeyOfType:
		return "the concurrency limit of key " + j.ConcurrencyKey + ", set for each key of type " + limit.Name + ", is reached"
	}
	return "the concurrency limit of key " + j.ConcurrencyKey + " is reached"
}

// startDirect dispatches a job that was just enqueued.
func startDirect(u *UnitOfWork, c *rota.Direct, r *rota.Reservation, id rota.ID) *rota.Job {
	j := u.editLeavingQueue(id)
	u.forgetTailOf(j)
	j.Hold = 0
	markReady(u, j)
	j.Status, j.StartedAt = rota.StatusRunning, u.Now
	j.Run = &rota.Run{
		ID: rota.RunID(c.ID, id), Runner: r.Node, Incarnation: r.Incarnation, Token: c.TokenFor(id),
		StartedAt: u.Now, HeartbeatAt: u.Now, StaleAfter: micros(u.Now.Add(c.Lease)),
	}
	next := *r
	next.JobID = id
	if j.Run.StaleAfter.After(next.ExpiresAt) {
		next.ExpiresAt = j.Run.StaleAfter
	}
	Reservations.set(u, r.ID, &next)
	countStarts(u, map[string]int{j.Type: 1})
	u.markKeyChanged(j)
	return j
}
