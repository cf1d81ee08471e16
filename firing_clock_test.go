package rota

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota/cron"
)

// watched fires at every tick of a clock between two times.
func watched(t *testing.T, s *Schedule, from, to time.Time, tick time.Duration) (times []time.Time) {
	t.Helper()
	for now := from; !now.After(to); now = now.Add(tick) {
		times = append(times, timesOf(drained(t, s, now)...)...)
	}
	return times
}

// See robfig/cron #26, where a schedule fired 720 times.
func TestPlanFireAfterClockSetForwardFiresOnce(t *testing.T) {
	s := declared(t, ScheduleSpec{Cron: "* * * * *"}, "2026-11-15 08:00")
	watched(t, s, moment("2026-11-15 08:00"), moment("2026-11-15 09:00"), 10*time.Second)
	jump := timesOf(drained(t, s, moment("2026-11-15 21:00:05"))...)
	if show(jump...) != "2026-11-15 21:00" || show(s.NextFire) != "2026-11-15 21:01" {
		t.Errorf("fires %s, then %s", show(jump...), show(s.NextFire))
	}
}

// See robfig/cron #352, where nothing fired until the clock had caught up. Rota computes
// the next fire again. It plans fired times again under the same plan key, so the store
// knows them.
func TestPlanFireAfterClockSetBackContinues(t *testing.T) {
	s := declared(t, ScheduleSpec{Cron: "* * * * *"}, "2026-11-15 08:00")
	before := watched(t, s, moment("2026-11-15 08:00"), moment("2026-11-15 12:00"), 10*time.Second)

	back := moment("2026-11-15 09:00:30")
	f := planned(t, s, back)
	if f == nil || len(f.Times) != 0 || f.CatchUp || !f.Missed.IsZero() || show(f.Expect, f.Next) != "2026-11-15 12:01, 2026-11-15 09:01" {
		t.Fatalf("planned %+v", f)
	}
	follow(s, f, back)
	if again := planned(t, s, back); again != nil {
		t.Fatalf("planned %+v once more", again)
	}

	after := watched(t, s, back, moment("2026-11-15 12:05"), 10*time.Second)
	for i, at := range after {
		if want := moment("2026-11-15 09:01").Add(time.Duration(i) * time.Minute); !at.Equal(want) {
			t.Fatalf("fire %d is for %s, want %s", i, at, want)
		}
	}
	fresh := slices.DeleteFunc(after, func(at time.Time) bool { return slices.ContainsFunc(before, at.Equal) })
	if show(fresh...) != "2026-11-15 12:01, 2026-11-15 12:02, 2026-11-15 12:03, 2026-11-15 12:04, 2026-11-15 12:05" {
		t.Errorf("new are %s", show(fresh...))
	}
}

// The clock is far ahead and is then corrected.
func TestPlanFireAfterClockCorrectedContinues(t *testing.T) {
	s := declared(t, ScheduleSpec{Cron: "0 * * * *"}, "2026-11-15 08:00")
	drained(t, s, moment("2036-11-15 08:00:10"))
	drained(t, s, moment("2026-11-15 08:30"))
	times := watched(t, s, moment("2026-11-15 08:30"), moment("2026-11-15 10:30"), time.Minute)
	if show(times...) != "2026-11-15 09:00, 2026-11-15 10:00" || show(s.NextFire) != "2026-11-15 11:00" {
		t.Errorf("fires %s, then %s", show(times...), show(s.NextFire))
	}
}

// Time services make small corrections all the time.
func TestPlanFireAfterSmallStepBackFiresNothing(t *testing.T) {
	s := declared(t, ScheduleSpec{Cron: "0 * * * *"}, "2026-11-15 08:00")
	drained(t, s, moment("2026-11-15 09:00:00.2"))
	if f := planned(t, s, moment("2026-11-15 09:00:00.1")); f != nil {
		t.Errorf("behind the fire: planned %+v", f)
	}
	fires := drained(t, s, moment("2026-11-15 08:59:59.9"))
	fires = append(fires, drained(t, s, moment("2026-11-15 09:00:00.3"))...)
	if show(timesOf(fires...)...) != "2026-11-15 09:00" || show(s.NextFire) != "2026-11-15 10:00" {
		t.Errorf("before the fire: fires %s, then %s", show(timesOf(fires...)...), show(s.NextFire))
	}
}

// The schedules have not fired yet, or never fire again.
func TestPlanFireAfterClockSetBackKeepsUnfiredSchedules(t *testing.T) {
	waiting := declared(t, ScheduleSpec{At: moment("2026-11-15 09:00")}, "2026-11-15 08:00")
	if f := planned(t, waiting, moment("2026-11-15 07:00")); f != nil {
		t.Errorf("at: planned %+v", f)
	}
	drained(t, waiting, moment("2026-11-15 09:00"))
	if f := planned(t, waiting, moment("2026-11-15 08:30")); f != nil {
		t.Errorf("at, fired: planned %+v", f)
	}
}

// Nothing has fired by the wrong clock yet: the schedule was declared by it, or catch-up
// gave up the due times.
func TestPlanFireWithWrongClockAtDeclaration(t *testing.T) {
	ahead := declared(t, ScheduleSpec{Cron: "0 * * * *"}, "2036-11-15 08:00")
	none := declared(t, ScheduleSpec{Cron: "0 * * * *", CatchUp: CatchUpNone}, "2026-11-15 02:30")
	drained(t, none, moment("2036-11-15 08:00:00"))
	for _, s := range []*Schedule{ahead, none} {
		drained(t, s, moment("2026-11-15 03:30"))
		times := watched(t, s, moment("2026-11-15 03:30"), moment("2026-11-15 05:30"), time.Minute)
		if show(times...) != "2026-11-15 04:00, 2026-11-15 05:00" {
			t.Errorf("fires %s", show(times...))
		}
	}
}

// An interval counts from the creation of the schedule, which is in the future once the
// clock is correct.
func TestPlanFireIntervalDeclaredByWrongClock(t *testing.T) {
	s := declared(t, ScheduleSpec{Every: time.Hour}, "2026-11-15 20:10")
	drained(t, s, moment("2026-11-15 08:00"))
	times := watched(t, s, moment("2026-11-15 08:00"), moment("2026-11-15 10:30"), time.Minute)
	if show(times...) != "2026-11-15 08:10, 2026-11-15 09:10, 2026-11-15 10:10" {
		t.Errorf("fires %s", show(times...))
	}

	s = declared(t, ScheduleSpec{Every: time.Hour}, "2026-11-15 20:10")
	if f := planned(t, s, moment("2026-11-15 20:09:59")); f != nil {
		t.Errorf("a small step back plans %+v; it fires one interval after its creation as before", f)
	}
}

// The test plans over the days on which a zone changes its clocks (see gocron #911 and
// db-scheduler #662), with a clock that ticks and with one that stopped and catches up.
func TestPlanFireOverClockChanges(t *testing.T) {
	for _, test := range []struct {
		name, cron, zone, from, to string // from and to in UTC
		want                       []string
	}{
		{
			"02:30 in spring does not exist, and is right again the day after", "30 2 * * *", "Europe/Berlin",
			"2026-03-27 12:00", "2026-03-31 12:00",
			[]string{"Sat 28 02:30 +01:00", "Mon 30 02:30 +02:00", "Tue 31 02:30 +02:00"},
		},
		{
			"02:30 in autumn comes once, and is right again the day after", "30 2 * * *", "Europe/Berlin",
			"2026-10-23 12:00", "2026-10-27 12:00",
			[]string{"Sat 24 02:30 +02:00", "Sun 25 02:30 +02:00", "Mon 26 02:30 +01:00", "Tue 27 02:30 +01:00"},
		},
		{
			"09:00 keeps to the wall in spring", "0 9 * * *", "Europe/Berlin", "2026-03-27 12:00", "2026-03-30 12:00",
			[]string{"Sat 28 09:00 +01:00", "Sun 29 09:00 +02:00", "Mon 30 09:00 +02:00"},
		},
		{
			"a midnight that does not exist", "0 0 * * *", "America/Santiago", "2026-09-04 12:00", "2026-09-08 12:00",
			[]string{"Sat 05 00:00 -04:00", "Mon 07 00:00 -03:00", "Tue 08 00:00 -03:00"},
		},
		{
			"a midnight after an hour shown twice", "0 0 * * *", "America/Santiago", "2026-04-03 12:00", "2026-04-06 12:00",
			[]string{"Sat 04 00:00 -03:00", "Sun 05 00:00 -04:00", "Mon 06 00:00 -04:00"},
		},
		{
			"half hours in spring", "*/30 * * * *", "Europe/Berlin", "2026-03-29 00:05", "2026-03-29 02:05",
			[]string{"Sun 29 01:30 +01:00", "Sun 29 03:00 +02:00", "Sun 29 03:30 +02:00", "Sun 29 04:00 +02:00"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := ScheduleSpec{Cron: test.cron, Zone: test.zone, CatchUp: CatchUpAll}
			ticking, still := declared(t, spec, test.from), declared(t, spec, test.from)
			to := moment(test.to)
			checkLocal(t, test.zone, watched(t, ticking, moment(test.from), to, 45*time.Second), test.want)
			checkLocal(t, test.zone, timesOf(drained(t, still, to)...), test.want)
		})
	}
}

func checkLocal(t *testing.T, zone string, times []time.Time, want []string) {
	t.Helper()
	loc, err := cron.LoadZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, at := range times {
		got = append(got, at.In(loc).Format("Mon 02 15:04 -07:00"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The test measures real time between fires.
func TestPlanFireQuarterHoursStayRegularInAutumn(t *testing.T) {
	for _, spec := range []ScheduleSpec{{Cron: "*/15 * * * *", Zone: "Europe/Berlin"}, {Every: 15 * time.Minute}} {
		s := declared(t, spec, "2026-10-24 22:00")
		times := watched(t, s, s.CreatedAt, moment("2026-10-25 04:00"), 30*time.Second)
		for i, at := range times {
			if want := s.CreatedAt.Add(time.Duration(i+1) * 15 * time.Minute); !at.Equal(want) {
				t.Fatalf("fire %d is for %s, want %s", i, at, want)
			}
		}
		if len(times) != 24 {
			t.Errorf("%d fires in six hours", len(times))
		}
	}
}
