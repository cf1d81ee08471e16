package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	reservationColumns = `
SELECT id, node, life, status, reserved_by, reserved_at, expires_at, ended_at, job_id
FROM rota_reservations`
	sqlReservation = reservationColumns + `
WHERE id = ?`
	sqlActive = reservationColumns + ` INDEXED BY rota_reservations_active
WHERE status = 'ACTIVE'`
	sqlReservations = reservationColumns + `
WHERE id < ?
ORDER BY id DESC
LIMIT +?`
	sqlExpiredReservations = reservationColumns + `
WHERE status <> 'ACTIVE' AND ended_at < ?
ORDER BY id
LIMIT +?`
	sqlInsertReservation = `
INSERT OR ROLLBACK INTO rota_reservations (id, status, expires_at, ended_at, job_id, node, life, reserved_by, reserved_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateReservation = `
UPDATE OR ROLLBACK rota_reservations
SET status = ?2, expires_at = ?3, ended_at = ?4, job_id = ?5
WHERE id = ?1`
	sqlDeleteReservation = `
DELETE FROM rota_reservations
WHERE id = ?`
)

func scanReservation(s *sqlite.Stmt) (*rota.Reservation, error) {
	return &rota.Reservation{
		ID: scanID(s, 0), Node: s.ColumnText(1), Incarnation: scanID(s, 2), Status: rota.ReservationStatus(s.ColumnText(3)),
		ReservedBy: s.ColumnText(4), ReservedAt: scanTime(s, 5), ExpiresAt: scanTime(s, 6), EndedAt: scanTime(s, 7),
		JobID: scanID(s, 8),
	}, nil
}

func (w *writer) loadReservation(id rota.ID, u *rules.UnitOfWork) error {
	return w.query(sqlReservation, func(s *sqlite.Stmt) { s.BindBytes(1, id[:]) }, scanInto(scanReservation, rules.Reservations.Into(u)))
}

func (w *writer) loadActive(_ struct{}, u *rules.UnitOfWork) error {
	return w.query(sqlActive, nil, scanInto(scanReservation, u.PutActive))
}

func (w *writer) loadExpiredReservations(q rules.ExpiredReservations, u *rules.UnitOfWork) error {
	return w.query(sqlExpiredReservations, func(s *sqlite.Stmt) {
		s.BindInt64(1, q.Before)
		s.BindInt64(2, int64(q.Limit))
	}, scanInto(scanReservation, func(r *rota.Reservation) { u.PutExpiredReservation(q, r) }))
}

// endReservation updates or deletes an existing reservation.
func (w *writer) endReservation(c rules.Change[rota.ID, rota.Reservation]) error {
	switch {
	case c.Was == nil:
		return nil
	case c.Is == nil:
		return w.change(sqlDeleteReservation, func(s *sqlite.Stmt) { s.BindBytes(1, c.Key[:]) })
	}
	return w.change(sqlUpdateReservation, func(s *sqlite.Stmt) { bindReservation(s, c.Is) })
}

// insertReservation inserts a new reservation.
func (w *writer) insertReservation(c rules.Change[rota.ID, rota.Reservation]) error {
	if c.Was != nil || c.Is == nil {
		return nil
	}
	return w.change(sqlInsertReservation, func(s *sqlite.Stmt) {
		bindReservation(s, c.Is)
		s.BindText(6, c.Is.Node)
		bindID(s, 7, c.Is.Incarnation)
		bindText(s, 8, c.Is.ReservedBy)
		bindTime(s, 9, c.Is.ReservedAt)
	})
}

func bindReservation(s *sqlite.Stmt, r *rota.Reservation) {
	bindID(s, 1, r.ID)
	s.BindText(2, string(r.Status))
	bindTime(s, 3, r.ExpiresAt)
	bindTime(s, 4, r.EndedAt)
	bindID(s, 5, r.JobID)
}

// Reservations lists reservations, newest first.
func (s *reader) Reservations(ctx context.Context, before rota.ID, limit int) ([]*rota.Reservation, error) {
	most, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, "reservations", sqlReservations, func(stmt *sqlite.Stmt) {
		bindBefore(stmt, 1, before)
		stmt.BindInt64(2, most)
	}, scanReservation)
}
