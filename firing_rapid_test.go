package rota

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota/cron"
)

// interval is a schedule and the approximate time between its fires.
type interval struct {
	spec ScheduleSpec
	unit time.Duration
}

var intervals = []interval{
	{ScheduleSpec{Cron: "* * * * *"}, time.Minute},
	{ScheduleSpec{Cron: "*/15 * * * *", Zone: "Europe/Berlin"}, 15 * time.Minute},
	{ScheduleSpec{Cron: "30 2 * * *", Zone: "Europe/Berlin"}, day},
	{ScheduleSpec{Cron: "0 0 * * *", Zone: "America/Santiago"}, day},
	{ScheduleSpec{Cron: "H/7 9-17 * * 1-5", Zone: "Asia/Kathmandu"}, 7 * time.Minute},
	{ScheduleSpec{Every: time.Millisecond}, time.Millisecond},
	{ScheduleSpec{Every: 7 * time.Second}, 7 * time.Second},
	{ScheduleSpec{Every: 25 * time.Hour}, 25 * time.Hour},
	{ScheduleSpec{Every: 90 * time.Minute, StartsAt: moment("2026-03-01 00:45")}, 90 * time.Minute},
	{ScheduleSpec{Cron: "0 * * * *", StartsAt: moment("2026-03-02 00:00"), EndsAt: moment("2026-04-01 00:00")}, time.Hour},
	{ScheduleSpec{At: moment("2026-03-28 12:00")}, day},
}

// The test advances a clock and fires due times at each step. No time fires twice or
// after a later one. The fired times are those that the reference computes. With catch-up
// all, a gap of at most CatchUpMax times loses none.
func TestPlanFireMatchesReference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(intervals).Draw(rt, "pace")
		spec := p.spec
		spec.CatchUp = rapid.SampledFrom([]CatchUp{CatchUpNone, CatchUpLast, CatchUpAll}).Draw(rt, "catch-up")
		for i := range rapid.SampledFrom([]int{0, 0, 2, 7}).Draw(rt, "scopes") {
			spec.Scopes = append(spec.Scopes, Scope{"user", fmt.Sprint(i)})
		}
		s := declared(t, spec, "2026-03-27 12:34:56.789")
		table, err := s.Timetable()
		if err != nil {
			rt.Fatal(err)
		}
		now, last := s.CreatedAt, time.Time{}
		for range rapid.IntRange(1, 8).Draw(rt, "readings") {
			now = now.Add(drawStep(rt, p.unit))
			want, missed := expectedTimes(table, s, now)
			fires := drained(t, s, now)
			got := timesOf(fires...)
			if !slices.EqualFunc(got, want, time.Time.Equal) {
				rt.Fatalf("at %s fired %d times: %s\nwant %d: %s", now, len(got), show(got...), len(want), show(want...))
			}
			for _, at := range got {
				if !at.After(last) {
					rt.Fatalf("at %s fired %s after %s", now, at, last)
				}
				last = at
			}
			checkCalendar(rt, table, s, fires, missed, now)
		}
	})
}

func drawStep(rt *rapid.T, unit time.Duration) time.Duration {
	most := rapid.SampledFrom([]int{1, 3, 60, 1500}).Draw(rt, "scale")
	whole := rapid.IntRange(0, most).Draw(rt, "units")
	return time.Duration(whole)*unit + time.Duration(rapid.Int64Range(0, int64(unit)).Draw(rt, "more"))
}

// expectedTimes computes the times to fire without the shortcuts of PlanFire.
func expectedTimes(table cron.Timetable, s *Schedule, now time.Time) (times []time.Time, missed bool) {
	if s.NextFire.IsZero() || s.NextFire.After(now) {
		return nil, false
	}
	owed, _ := cron.Between(table, s.NextFire.Add(-1), now, 1_000_000)
	most := len(owed)
	if now.Sub(s.NextFire) > MisfireGrace {
		most = map[CatchUp]int{CatchUpNone: 0, CatchUpLast: 1, CatchUpAll: CatchUpMax}[s.Spec.CatchUp]
	}
	skipped := max(0, len(owed)-most)
	return owed[skipped:], skipped > 0
}

func checkCalendar(rt *rapid.T, table cron.Timetable, s *Schedule, fires []*Fire, missed bool, now time.Time) {
	if want := nextOf(table, now); !s.NextFire.Equal(want) {
		rt.Fatalf("at %s its next fire is %s, want %s", now, s.NextFire, want)
	}
	for i, f := range fires {
		if said := !f.Missed.IsZero(); said != (missed && i == 0) || said && !f.Missed.Equal(f.Expect) {
			rt.Fatalf("at %s, page %d: missed from %s on, expected %s", now, i, show(f.Missed), show(f.Expect))
		}
	}
}
