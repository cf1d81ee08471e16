package model

import (
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// NextDue returns when each kind of maintenance is due next.
func (m *Model) NextDue(context.Context) (rota.Due, error) {
	now := micros(m.clock())
	return read(m, func(s *state) (due rota.Due, err error) {
		due.Now = now
		for _, j := range s.jobs {
			if j.Status == rota.StatusQueued && j.Hold&rota.HoldDelay != 0 {
				due.Ready = earlier(due.Ready, j.RunAt)
			}
			if waitsForDependency(j) {
				due.Expire = earlier(due.Expire, j.WaitUntil)
			}
		}
		for _, d := range s.schedules {
			if d.State == rota.ScheduleEnabled {
				due.Fire = earlier(due.Fire, d.NextFire)
			}
		}
		if r := s.active(); r != nil {
			due.Expire = earlier(due.Expire, r.ExpiresAt)
		}
		due.Sweep = len(s.intents) > 0
		return due, nil
	})
}

// earlier is the earlier of two times, where zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// DueSchedules lists the schedules that are due by the clock of the model.
func (m *Model) DueSchedules(_ context.Context, limit int) (rota.DuePage, error) {
	now := micros(m.clock())
	return read(m, func(s *state) (rota.DuePage, error) {
		due := s.schedulesWhere(func(d *rota.Schedule) bool {
			return d.State == rota.ScheduleEnabled && !d.NextFire.IsZero() && !d.NextFire.After(now)
		})
		slices.SortFunc(due, byNext)
		return rota.DuePage{Now: now, Schedules: copyPage(due, limit, copySchedule)}, nil
	})
}
