package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	reservationColumns = `
SELECT id, node, life, status, reserved_by, reserved_at, expires_at, ended_at, job_id, xmin
FROM rota_reservations`
	sqlReservation = reservationColumns + `
WHERE id = ANY ($1)`
	sqlActive = reservationColumns + `
WHERE status = 'ACTIVE'`
	sqlReservations = reservationColumns + `
WHERE id < $1
ORDER BY id DESC
LIMIT $2`
	sqlBygone = reservationColumns + `
WHERE status <> 'ACTIVE' AND ended_at < $1
ORDER BY id
LIMIT $2`
	sqlInsertReservation = `
INSERT INTO rota_reservations (id, status, expires_at, ended_at, job_id, node, life, reserved_by, reserved_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	sqlUpdateReservation = `
UPDATE rota_reservations
SET status = $2, expires_at = $3, ended_at = $4, job_id = $5
WHERE id = $1`
	sqlDeleteReservation = `
DELETE FROM rota_reservations
WHERE id = $1`
)

func scanReservation(r row) (*rota.Reservation, error) {
	return &rota.Reservation{
		ID: r.id(0), Node: r.text(1), Incarnation: r.id(2), Status: rota.ReservationStatus(r.text(3)),
		ReservedBy: r.text(4), ReservedAt: r.time(5), ExpiresAt: r.time(6), EndedAt: r.time(7), JobID: r.id(8),
	}, nil
}

// loadReservations notes the one that is active, which may move: whatever has
// ended stays as it is.
func (t *tx) loadReservations(ids []rota.ID, w *rules.UnitOfWork) []ask {
	if len(ids) == 0 {
		return nil
	}
	bring := put(scanReservation, w.PutReservation)
	return []ask{{sql: sqlReservation, params: []param{idsParam(ids)}, each: func(r row) error {
		if rota.ReservationStatus(r.text(3)) == rota.ReservationActive {
			t.seen.named(classActive, seat{}, r.xid(len(r)-1))
		}
		return bring(r)
	}}}
}

func (t *tx) loadActive(w *rules.UnitOfWork) []ask {
	if recall(t, classActive, seat{}, w.PutActive) {
		return nil
	}
	return []ask{learn(t, classActive, theOne, ask{sql: sqlActive}, ofNone, scanReservation, w.PutActive)}
}

func (t *tx) loadBygone(q rules.ExpiredReservations, w *rules.UnitOfWork) ask {
	return ask{
		sql: sqlBygone, params: []param{intParam(q.Before), intParam(int64(q.Limit))},
		each: put(scanReservation, func(r *rota.Reservation) { w.PutExpiredReservation(q, r) }),
	}
}

// endReservation writes what became of a reservation that was there.
func (t *tx) endReservation(c rules.Change[rota.ID, rota.Reservation]) []ask {
	switch {
	case c.Was == nil:
		return nil
	case c.Is == nil:
		return []ask{{sql: sqlDeleteReservation, params: []param{idParam(c.Key)}}}
	}
	return []ask{{sql: sqlUpdateReservation, params: reservationParams(c.Is)}}
}

// insertReservation writes one that was not.
func (t *tx) insertReservation(c rules.Change[rota.ID, rota.Reservation]) []ask {
	if c.Was != nil || c.Is == nil {
		return nil
	}
	return []ask{{sql: sqlInsertReservation, params: append(reservationParams(c.Is),
		textAlways(c.Is.Node), idParam(c.Is.Incarnation), textParam(c.Is.ReservedBy), timeParam(c.Is.ReservedAt))}}
}

func reservationParams(r *rota.Reservation) []param {
	return []param{idParam(r.ID), textAlways(string(r.Status)), timeParam(r.ExpiresAt), timeParam(r.EndedAt), idParam(r.JobID)}
}

// Reservations lists reservations, newest first.
func (s *reader) Reservations(ctx context.Context, before rota.ID, limit int) ([]*rota.Reservation, error) {
	most, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, "reservations", scanReservation, sqlReservations, beforeParam(before), intParam(most))
}
