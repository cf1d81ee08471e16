package model

import (
	"cmp"
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// Stats counts live jobs, dead letters and enabled schedules.
func (m *Model) Stats(context.Context) (*rota.Stats, error) {
	now := micros(m.clock())
	return read(m, func(s *state) (*rota.Stats, error) {
		stats := &rota.Stats{Now: now}
		for _, j := range s.jobs {
			switch {
			case rota.InternalType(j.Type):
				if !j.Ended() {
					stats.Deliveries++
				}
				continue
			case s.deadLetter(j) && !s.hidden(j):
				stats.Dead++
			}
			countLive(stats, j)
		}
		for _, d := range s.schedules {
			if d.State == rota.ScheduleEnabled {
				stats.Schedules++
			}
		}
		slices.SortFunc(stats.Types, func(a, b rota.TypeStats) int { return cmp.Compare(a.Type, b.Type) })
		return stats, nil
	})
}

func countLive(stats *rota.Stats, j *rota.Job) {
	var one rota.TypeStats
	switch {
	case j.Ready():
		one.Queued = 1
		stats.Oldest = earlier(stats.Oldest, j.QueuedAt)
	case j.State() == rota.StateScheduled:
		one.Scheduled = 1
	case j.State() == rota.StateBlocked:
		one.Blocked = 1
	case j.State() == rota.StateRunning:
		one.Running = 1
	default:
		return
	}
	at := slices.IndexFunc(stats.Types, func(t rota.TypeStats) bool { return t.Type == j.Type })
	if at < 0 {
		at = len(stats.Types)
		stats.Types = append(stats.Types, rota.TypeStats{Type: j.Type})
	}
	t := &stats.Types[at]
	t.Queued, t.Scheduled = t.Queued+one.Queued, t.Scheduled+one.Scheduled
	t.Blocked, t.Running = t.Blocked+one.Blocked, t.Running+one.Running
	stats.Queued, stats.Scheduled = stats.Queued+one.Queued, stats.Scheduled+one.Scheduled
	stats.Blocked, stats.Running = stats.Blocked+one.Blocked, stats.Running+one.Running
}
