package storekit

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// Stats counts the live jobs, dead letters and schedules in one snapshot.
func (s *Reader) Stats(ctx context.Context) (*rota.Stats, error) {
	c := statsBuilder{types: map[string]*rota.TypeStats{}}
	err := s.on.Query(ctx, "stats", s.on.Reads.Stats, c.add, s.on.Now())
	if err != nil {
		return nil, err
	}
	return c.result(), nil
}

// The rows of Reads.Stats: what a row counts, a type, a count, and a second value.
const (
	statsNow       = iota // second value: the time
	statsReady            // second value: when the oldest became ready
	statsHeld             // second value: how many of them are delayed
	statsRunning          // jobs of a type
	statsDead             // dead letters
	statsSchedules        // enabled schedules
)

// statsBuilder adds up the rows.
type statsBuilder struct {
	stats rota.Stats
	types map[string]*rota.TypeStats
}

func (c *statsBuilder) add(r Row) error {
	count := int(r.Int(2))
	switch r.Int(0) {
	case statsNow:
		c.stats.Now = r.Time(3)
	case statsReady:
		one := c.typeStats(r.Text(1))
		one.Queued = count
		if since := r.Time(3); !rota.InternalType(one.Type) && (c.stats.Oldest.IsZero() || since.Before(c.stats.Oldest)) {
			c.stats.Oldest = since
		}
	case statsHeld:
		one, delayed := c.typeStats(r.Text(1)), int(r.Int(3))
		one.Scheduled, one.Blocked = delayed, count-delayed
	case statsRunning:
		c.typeStats(r.Text(1)).Running = count
	case statsDead:
		c.stats.Dead = count
	case statsSchedules:
		c.stats.Schedules = count
	}
	return nil
}

func (c *statsBuilder) typeStats(name string) *rota.TypeStats {
	if c.types[name] == nil {
		c.types[name] = &rota.TypeStats{Type: name}
	}
	return c.types[name]
}

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
