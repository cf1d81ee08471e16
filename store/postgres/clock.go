package postgres

import (
	"context"
	"time"
)

const (
	// clockNow is the time of PostgreSQL's clock in microseconds.
	clockNow = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`
	// clockHere is the first parameter, or clockNow if that is NULL.
	clockHere = `coalesce($1, ` + clockNow + `)`

	sqlClockHere = `
SELECT ` + clockHere
)

// clockOverride is the time of Config.Clock, or zero without one.
func (s *Store) clockOverride() time.Time {
	if s.config.Clock == nil {
		return time.Time{}
	}
	return s.config.Clock()
}

const sqlClock = `
SELECT ` + clockNow

// now returns the time of PostgreSQL's clock in the stored precision.
func (s *Store) now(ctx context.Context) (now time.Time, err error) {
	if s.config.Clock != nil {
		return s.config.Clock().UTC().Truncate(time.Microsecond), nil
	}
	err = s.query(ctx, "now", statement{sql: sqlClock, eachRow: func(r row) error {
		now = r.Time(0)
		return nil
	}})
	return now, err
}
