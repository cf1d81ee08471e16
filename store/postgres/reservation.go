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
	sqlEndedReservations = reservationColumns + `
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
		ID: r.ID(0), Node: r.Text(1), Incarnation: r.ID(2), Status: rota.ReservationStatus(r.Text(3)),
		ReservedBy: r.Text(4), ReservedAt: r.Time(5), ExpiresAt: r.Time(6), EndedAt: r.Time(7), JobID: r.ID(8),
	}, nil
}

// loadReservations adds only the active reservation to the read set, because an ended one never
// changes.
func (t *tx) loadReservations(ids []rota.ID, u *rules.UnitOfWork) []statement {
	if len(ids) == 0 {
		return nil
	}
	putRow := scanInto(scanReservation, rules.Reservations.Into(u))
	return []statement{{sql: sqlReservation, params: []param{idsParam(ids)}, eachRow: func(r row) error {
		if rota.ReservationStatus(r.Text(3)) == rota.ReservationActive {
			t.readSet.addRow(classActive, rowKey{}, r.xid(len(r)-1))
		}
		return putRow(r)
	}}}
}

func (t *tx) loadActive(_ []struct{}, u *rules.UnitOfWork) []statement {
	if useCached(t, classActive, rowKey{}, u.PutActive) {
		return nil
	}
	return []statement{cacheRows(t, classActive, singleKey, statement{sql: sqlActive}, keyOfSingle, scanReservation, u.PutActive)}
}

func (t *tx) loadExpiredReservations(q rules.ExpiredReservations, u *rules.UnitOfWork) statement {
	return statement{
		sql: sqlEndedReservations, params: []param{intParam(q.Before), intParam(int64(q.Limit))},
		eachRow: scanInto(scanReservation, func(r *rota.Reservation) { u.PutExpiredReservation(q, r) }),
	}
}

// endReservation updates or deletes an existing reservation.
func (t *tx) endReservation(c rules.Change[rota.ID, rota.Reservation]) []statement {
	switch {
	case c.Was == nil:
		return nil
	case c.Is == nil:
		return []statement{{sql: sqlDeleteReservation, params: []param{idParam(c.Key)}}}
	}
	return []statement{{sql: sqlUpdateReservation, params: reservationParams(c.Is)}}
}

// insertReservation inserts a new reservation.
func (t *tx) insertReservation(c rules.Change[rota.ID, rota.Reservation]) []statement {
	if c.Was != nil || c.Is == nil {
		return nil
	}
	return []statement{{sql: sqlInsertReservation, params: append(reservationParams(c.Is),
		textNotNull(c.Is.Node), idParam(c.Is.Incarnation), textParam(c.Is.ReservedBy), timeParam(c.Is.ReservedAt))}}
}

func reservationParams(r *rota.Reservation) []param {
	return []param{idParam(r.ID), textNotNull(string(r.Status)), timeParam(r.ExpiresAt), timeParam(r.EndedAt), idParam(r.JobID)}
}

// Reservations lists reservations, newest first.
func (s *reader) Reservations(ctx context.Context, before rota.ID, limit int) ([]*rota.Reservation, error) {
	most, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, "reservations", scanReservation, sqlReservations, beforeParam(before), intParam(most))
}
