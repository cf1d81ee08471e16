package postgres

import "time"

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
