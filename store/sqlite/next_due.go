package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

const sqlNextDue = `
SELECT
  (SELECT min(run_at) FROM rota_jobs INDEXED BY rota_jobs_due WHERE status = 'QUEUED' AND hold & 1),
  (SELECT min(next_fire) FROM rota_schedules INDEXED BY rota_schedules_due WHERE state = 'ENABLED' AND next_fire IS NOT NULL),
  (SELECT min(wait_until) FROM rota_jobs INDEXED BY rota_jobs_wait WHERE status = 'QUEUED' AND hold & 4),
  (SELECT expires_at FROM rota_reservations INDEXED BY rota_reservations_active WHERE status = 'ACTIVE'),
  EXISTS (SELECT 1 FROM rota_intents)`

// NextDue returns the times of the next maintenance of each kind.
func (s *Store) NextDue(ctx context.Context) (due rota.Due, err error) {
	err = s.withSnapshot(ctx, "next due", func(conn *sqlite.Conn) error {
		return query(conn, sqlNextDue, nil, func(stmt *sqlite.Stmt) {
			due = rota.Due{
				Now:   s.now(),
				Ready: scanTime(stmt, 0), Fire: scanTime(stmt, 1), Expire: scanTime(stmt, 2), Sweep: stmt.ColumnInt64(4) == 1,
			}
			if ends := scanTime(stmt, 3); due.Expire.IsZero() || !ends.IsZero() && ends.Before(due.Expire) {
				due.Expire = ends
			}
		})
	})
	return due, err
}
