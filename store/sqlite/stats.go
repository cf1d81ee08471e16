package sqlite

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Each count uses a partial index without ended jobs.
const (
	sqlStatsReady = `
SELECT type, count(*), min(queued_at)
FROM rota_jobs INDEXED BY rota_jobs_claim
WHERE status = 'QUEUED' AND hold = 0
GROUP BY type`
	sqlStatsHeld = `
SELECT type, count(*), sum(hold & 1)
FROM rota_jobs INDEXED BY rota_jobs_held
WHERE status = 'QUEUED' AND hold <> 0
GROUP BY type`
	sqlStatsOpen = `
SELECT j.type, count(*)
FROM rota_jobs j INDEXED BY rota_jobs_open
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
GROUP BY j.type`
	sqlStatsDead = `
SELECT count(*)
FROM rota_jobs j INDEXED BY rota_jobs_dead
WHERE` + isDead + ` AND ` + notInternal + notDropped
	sqlStatsSchedules = `
SELECT count(*)
FROM rota_schedules INDEXED BY rota_schedules_enabled
WHERE state = 'ENABLED'`
)

// Stats counts the live jobs, dead letters and schedules in one snapshot.
func (s *reader) Stats(ctx context.Context) (*rota.Stats, error) {
	c := statsBuilder{types: map[string]*rota.TypeStats{}}
	err := s.withSnapshot(ctx, "stats", func(conn *sqlite.Conn) error {
		c.stats.Now = s.now()
		count := func(sql string, each func(*sqlite.Stmt)) func() error {
			return func() error { return query(conn, sql, nil, each) }
		}
		return firstError(
			count(sqlStatsReady, c.ready), count(sqlStatsHeld, c.held), count(sqlStatsOpen, c.open),
			count(sqlStatsDead, func(s *sqlite.Stmt) { c.stats.Dead = int(s.ColumnInt64(0)) }),
			count(sqlStatsSchedules, func(s *sqlite.Stmt) { c.stats.Schedules = int(s.ColumnInt64(0)) }),
		)
	})
	if err != nil {
		return nil, err
	}
	return c.result(), nil
}

// statsBuilder adds up the rows of the statements.
type statsBuilder struct {
	stats rota.Stats
	types map[string]*rota.TypeStats
}

func (c *statsBuilder) typeStats(s *sqlite.Stmt) *rota.TypeStats {
	name := s.ColumnText(0)
	if c.types[name] == nil {
		c.types[name] = &rota.TypeStats{Type: name}
	}
	return c.types[name]
}

func (c *statsBuilder) ready(s *sqlite.Stmt) {
	one := c.typeStats(s)
	one.Queued = int(s.ColumnInt64(1))
	if rota.InternalType(one.Type) {
		return
	}
	if since := scanTime(s, 2); c.stats.Oldest.IsZero() || since.Before(c.stats.Oldest) {
		c.stats.Oldest = since
	}
}

func (c *statsBuilder) held(s *sqlite.Stmt) {
	all, delayed := int(s.ColumnInt64(1)), int(s.ColumnInt64(2))
	one := c.typeStats(s)
	one.Scheduled, one.Blocked = delayed, all-delayed
}

func (c *statsBuilder) open(s *sqlite.Stmt) { c.typeStats(s).Running = int(s.ColumnInt64(1)) }

func (c *statsBuilder) result() *rota.Stats {
	for _, one := range slices.SortedFunc(maps.Values(c.types), func(a, b *rota.TypeStats) int { return cmp.Compare(a.Type, b.Type) }) {
		if rota.InternalType(one.Type) {
			c.stats.Deliveries += one.Queued + one.Scheduled + one.Blocked + one.Running
			continue
		}
		c.stats.Types = append(c.stats.Types, *one)
		c.stats.Queued += one.Queued
		c.stats.Scheduled += one.Scheduled
		c.stats.Blocked += one.Blocked
		c.stats.Running += one.Running
	}
	return &c.stats
}
