package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

const (
	// clockHere is the first parameter, or without one the time of PostgreSQL's clock.
	clockHere = `coalesce($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`

	sqlNextDue = `
SELECT ` + clockHere + `,
  (SELECT min(run_at) FROM rota_jobs WHERE status = 'QUEUED' AND hold & 1 <> 0),
  (SELECT min(next_fire) FROM rota_schedules WHERE state = 'ENABLED' AND next_fire IS NOT NULL),
  (SELECT min(wait_until) FROM rota_jobs WHERE status = 'QUEUED' AND hold & 4 <> 0),
  (SELECT expires_at FROM rota_reservations WHERE status = 'ACTIVE'),
  EXISTS (SELECT FROM rota_intents)`
)

// withoutSeqScan goes before statements that every engine sends all the time. A plan that was made
// while the table was empty scans it whole, and PostgreSQL keeps it when there are a million jobs.
var withoutSeqScan = statement{sql: `
SELECT set_config('enable_seqscan', 'off', true)`}

// NextDue returns the times of the next maintenance of each kind.
func (s *Store) NextDue(ctx context.Context) (due rota.Due, err error) {
	err = s.query(ctx, "next due", withoutSeqScan, statement{sql: sqlNextDue, params: []param{s.clockParam(ctx)}, eachRow: func(r row) error {
		due = rota.Due{Now: r.Time(0), Ready: r.Time(1), Fire: r.Time(2), Expire: r.Time(3), Sweep: r.Bool(5)}
		if ends := r.Time(4); due.Expire.IsZero() || !ends.IsZero() && ends.Before(due.Expire) {
			due.Expire = ends
		}
		return nil
	}})
	return due, err
}
