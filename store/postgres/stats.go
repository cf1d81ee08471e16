package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// Each count uses a partial index without ended jobs. One statement sees one snapshot.
const sqlStats = `
SELECT ` + clockHere + `, 0, NULL, NULL::bigint, NULL::bigint
UNION ALL
SELECT NULL, 1, j.type, count(*), min(j.queued_at)
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold = 0
GROUP BY j.type
UNION ALL
SELECT NULL, 2, j.type, count(*), count(*) FILTER (WHERE j.hold & 1 <> 0)
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold <> 0
GROUP BY j.type
UNION ALL
SELECT NULL, 3, j.type, count(*), NULL
FROM rota_jobs j
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
GROUP BY j.type
UNION ALL
SELECT NULL, 4, NULL, count(*), NULL
FROM rota_jobs j
WHERE ` + isDead + ` AND ` + notInternal + ` AND ` + notDropped + `
UNION ALL
SELECT NULL, 5, NULL, count(*), NULL
FROM rota_schedules
WHERE state = 'ENABLED'`

// Stats counts the live jobs, dead letters and schedules in one snapshot.
func (s *reader) Stats(ctx context.Context) (*rota.Stats, error) {
	c := statsBuilder{types: map[string]*rota.TypeStats{}}
	parts := []func(row){
		func(r row) { c.stats.Now = r.Time(0) },
		c.ready, c.held, c.open,
		func(r row) { c.stats.Dead = int(r.Int(3)) },
		func(r row) { c.stats.Schedules = int(r.Int(3)) },
	}
	err := s.query(ctx, "stats", withoutJIT, statement{sql: sqlStats, params: []param{s.clockParam(ctx)}, eachRow: func(r row) error {
		parts[r.Int(1)](r)
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return c.result(), nil
}

// statsBuilder adds up the rows of sqlStats.
type statsBuilder struct {
	stats rota.Stats
	types map[string]*rota.TypeStats
}

func (c *statsBuilder) typeStats(r row) *rota.TypeStats {
	name := r.Text(2)
	if c.types[name] == nil {
		c.types[name] = &rota.TypeStats{Type: name}
	}
	return c.types[name]
}

func (c *statsBuilder) ready(r row) {
	one := c.typeStats(r)
	one.Queued = int(r.Int(3))
	if rota.InternalType(one.Type) {
		return
	}
	if since := r.Time(4); c.stats.Oldest.IsZero() || since.Before(c.stats.Oldest) {
		c.stats.Oldest = since
	}
}

func (c *statsBuilder) held(r row) {
	all, delayed := int(r.Int(3)), int(r.Int(4))
	one := c.typeStats(r)
	one.Scheduled, one.Blocked = delayed, all-delayed
}

func (c *statsBuilder) open(r row) { c.typeStats(r).Running = int(r.Int(3)) }

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
