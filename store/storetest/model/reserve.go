package model

import (
	"cmp"

	"github.com/rotajobs/rota"
)

// reserve creates the only reservation, unless one is active and has not expired.
func (s *step) reserve(c *rota.Reserve) (rota.Reply, *rota.Error) {
	if own := s.reservation(c.ReservationID()); own != nil {
		return &rota.Reserved{Reservation: own}, nil
	}
	if r := s.active(); r != nil {
		if r.ExpiresAt.After(s.now) {
			return nil, s.refuse(rota.Busy, "", "node %s is reserved", r.Node)
		}
		s.expireReservation(r)
	}
	r := &rota.Reservation{
		ID: c.ReservationID(), Node: c.Node, Incarnation: c.Incarnation, Status: rota.ReservationActive,
		ReservedBy: c.Actor, ReservedAt: s.now, ExpiresAt: micros(s.now.Add(cmp.Or(c.For, rota.DefaultReservation))),
	}
	s.reservations = append(s.reservations, r)
	return &rota.Reserved{Reservation: r}, nil
}

// expireReservation ends a reservation that was not released.
func (s *step) expireReservation(r *rota.Reservation) {
	r.Status, r.EndedAt = rota.ReservationExpired, s.now
	s.auditEffect(rota.AuditReservationExpired, reservationSubject(r.ID), "", nil)
}

// extendReservation extends a reservation to the lease of its run.
func (s *step) extendReservation(j *rota.Job) {
	if r := s.active(); r != nil && r.JobID == j.ID && j.Run.StaleAfter.After(r.ExpiresAt) {
		r.ExpiresAt = j.Run.StaleAfter
	}
}

// extendUnused extends a reservation without a run, if its holder sent a heartbeat for it.
func (s *step) extendUnused(c *rota.Extend) {
	r := s.active()
	if r == nil || r.ID != c.ReservationID || !r.JobID.IsZero() {
		return
	}
	if until := micros(s.now.Add(c.Lease)); until.After(r.ExpiresAt) {
		r.ExpiresAt = until
	}
}

func (s *step) release(c *rota.Release) (rota.Reply, *rota.Error) {
	r := s.reservation(c.ReservationID)
	if r == nil {
		return nil, s.refuse(rota.NotFound, "reservation_id", "there is no reservation %s", c.ReservationID)
	}
	if r.Status != rota.ReservationActive {
		return &rota.Released{Reservation: r}, nil
	}
	if j := s.find(r.JobID); j != nil && leased(j) {
		return nil, s.refuse(rota.Conflict, "reservation_id", "job %s runs", j.ID)
	}
	r.Status, r.EndedAt = rota.ReservationReleased, s.now
	return &rota.Released{Reservation: r}, nil
}

// direct starts a job without the queue, for the holder of a reservation.
func (s *step) direct(c *rota.Direct) (rota.Reply, *rota.Error) {
	if own := s.find(c.JobID()); own != nil {
		if own.Run == nil || own.Run.ID != rota.RunID(c.ID, own.ID) {
			return nil, s.refuse(rota.Conflict, "job.id", "another job has this id")
		}
		return &rota.Directed{Job: own, Now: s.now}, nil
	}
	r := s.reservation(c.ReservationID)
	switch {
	case r == nil:
		return nil, s.refuse(rota.NotFound, "reservation_id", "there is no reservation %s", c.ReservationID)
	case r.Status != rota.ReservationActive || !r.ExpiresAt.After(s.now):
		return nil, s.refuse(rota.Conflict, "reservation_id", "reservation %s has ended", r.ID)
	case !r.JobID.IsZero():
		return nil, s.refuse(rota.Conflict, "reservation_id", "reservation %s is used", r.ID)
	}
	j, err := s.draft(&c.Job, c.JobID(), "job")
	if err != nil {
		return nil, err
	}
	if t := s.typ(j.Type); t != nil && t.Paused {
		return nil, s.refuse(rota.Busy, "", "type %s is paused", j.Type)
	}
	if s.globalCapacity() == 0 || s.typeCapacity(j.Type) == 0 || s.keyCapacity(j.ConcurrencyKey, j.Type) == 0 {
		return nil, s.refuse(rota.Busy, "", "a limit is reached")
	}
	s.startDirect(c, j, r)
	return &rota.Directed{Job: j, Now: s.now}, nil
}

func (s *step) startDirect(c *rota.Direct, j *rota.Job, r *rota.Reservation) {
	j.Policy.MaxAttempts = 1
	j.Position = s.endPosition(j.Priority)
	j.QueuedAt = s.now
	s.jobs = append(s.jobs, j)
	s.dispatch(j, r.Node, r.Incarnation, c.TokenFor(j.ID), c.Lease)
	s.countStart(j.Type)
	s.markKeyChanged(j)
	r.JobID = j.ID
	s.extendReservation(j)
}
