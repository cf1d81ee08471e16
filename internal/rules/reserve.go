package rules

import (
	"cmp"
	"time"

	"github.com/rotajobs/rota"
)

func ReservationSubject(id rota.ID) string { return "reservation " + id.String() }

// decideReserve keeps a node from dispatching. One reservation is active at a
// time; an expired one is replaced.
func decideReserve(u *UnitOfWork, c *rota.Reserve) (rota.Reply, *rota.Error) {
	Active.want(u, one)
	u.lockActive = true
	if own := Reservations.get(u, c.ReservationID()); own != nil {
		return &rota.Reserved{Reservation: own}, nil
	}
	if held := u.activeReservation(); held != nil {
		if held.ExpiresAt.After(u.Now) {
			return nil, &rota.Error{
				Code: rota.Busy, Field: "node", Reason: "node " + held.Node + " is reserved for a direct run until " + Stamp(held.ExpiresAt) + " at the latest",
				Hint: "try again when the reservation is released",
			}
		}
		expireReservation(u, c, held)
	}
	r := &rota.Reservation{
		ID: c.ReservationID(), Node: c.Node, Incarnation: c.Incarnation, Status: rota.ReservationActive,
		ReservedBy: c.Actor, ReservedAt: u.Now, ExpiresAt: micros(u.Now.Add(cmp.Or(c.For, rota.DefaultReservation))),
	}
	Reservations.set(u, r.ID, r)
	return &rota.Reserved{Reservation: r}, nil
}

func endReservation(u *UnitOfWork, r *rota.Reservation, status rota.ReservationStatus) *rota.Reservation {
	next := *r
	next.Status, next.EndedAt = status, u.Now
	Reservations.set(u, r.ID, &next)
	return &next
}

// expireReservation ends a reservation that was not released.
func expireReservation(u *UnitOfWork, c rota.Command, r *rota.Reservation) {
	endReservation(u, r, rota.ReservationExpired)
	u.auditSideEffect(c, rota.AuditReservationExpired, ReservationSubject(r.ID), "", nil)
}

// extendForRun makes the active reservation last as long as the lease of its
// direct run.
func extendForRun(u *UnitOfWork, job rota.ID, until time.Time) {
	if r := u.activeReservation(); r != nil && r.JobID == job {
		extendReservation(u, r, until)
	}
}

// extendUnused makes a reservation last whose holder sends heartbeats while its
// direct run has yet to start.
func extendUnused(u *UnitOfWork, id rota.ID, until time.Time) {
	if r := u.activeReservation(); r != nil && r.ID == id && r.JobID.IsZero() {
		extendReservation(u, r, until)
	}
}

func extendReservation(u *UnitOfWork, r *rota.Reservation, until time.Time) {
	if until.After(r.ExpiresAt) {
		next := *r
		next.ExpiresAt = until
		Reservations.set(u, r.ID, &next)
	}
}

func decideRelease(u *UnitOfWork, c *rota.Release) (rota.Reply, *rota.Error) {
	r := Reservations.get(u, c.ReservationID)
	switch {
	case r == nil:
		return nil, noReservation(c.ReservationID)
	case r.Status != rota.ReservationActive:
		return &rota.Released{Reservation: r}, nil
	}
	if j := u.job(r.JobID); j != nil && j.Run != nil && j.Run.Open() {
		return nil, &rota.Error{
			Code: rota.Conflict, Field: "reservation_id", Reason: "its direct run, job " + j.ID.String() + ", has not ended",
			Hint: "cancel the job: its end releases the reservation",
		}
	}
	return &rota.Released{Reservation: endReservation(u, r, rota.ReservationReleased)}, nil
}

func noReservation(id rota.ID) *rota.Error {
	return &rota.Error{Code: rota.NotFound, Field: "reservation_id", Reason: "there is no reservation " + id.String(), Hint: "create a reservation first"}
}
