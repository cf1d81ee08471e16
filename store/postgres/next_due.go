package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

const (
	// clockHere is the time by PostgreSQL's clock, or by the one that stands in for
	// it as the first parameter.
	clockHere = `coalesce($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`

	sqlNextDue = `
SELECT ` + clockHere + `,
  (SELECT min(run_at) FROM rota_jobs WHERE status = 'QUEUED' AND hold & 1 <> 0),
  (SELECT min(next_fire) FROM rota_schedules WHERE state = 'ENABLED' AND next_fire IS NOT NULL),
  (SELECT min(wait_until) FROM rota_jobs WHERE status = 'QUEUED' AND hold & 4 <> 0),
  (SELECT expires_at FROM rota_reservations WHERE status = 'ACTIVE'),
  EXISTS (SELECT FROM rota_intents)`
)

// withoutSeqScan is asked before what every engine asks all day: a plan that was made while
// there were no jobs, and reads all of them, is kept when there are a million.
var withoutSeqScan = statement{sql: `
SELECT set_config('enable_seqscan', 'off', true)`}

// NextDue says when which upkeep is to be done next.
func (s *Store) NextDue(ctx context.Context) (due rota.Due, err error) {
	err = s.query(ctx, "next due", withoutSeqScan, statement{sql: sqlNextDue, params: []param{s.clockParam(ctx)}, eachRow: func(r row) error {
		due = rota.Due{Now: r.time(0), Ready: r.time(1), Fire: r.time(2), Expire: r.time(3), Sweep: r.bool(5)}
		if ends := r.time(4); due.Expire.IsZero() || !ends.IsZero() && ends.Before(due.Expire) {
			due.Expire = ends
		}
		return nil
	}})
	return due, err
}
