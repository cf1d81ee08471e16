package rota

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/cron"
)

// moment parses a time in UTC, such as "2026-11-15 09:00" or "2026-11-15 09:00:07.5".
func moment(text string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	panic(text + " is not a time")
}

var sampleTime = time.Date(2026, 11, 15, 3, 30, 0, 123456000, time.UTC)

func sampleMeta(n byte) Meta {
	return Meta{ID: ID{6: 0x70, 8: 0x80, 15: n}, Actor: "ada", RulesVersion: 1}
}

// declared returns a schedule as a store keeps it, declared at a time.
func declared(t testing.TB, spec ScheduleSpec, created string) *Schedule {
	t.Helper()
	spec.Template = "mail"
	c, err := Declare(sampleMeta(1), "nightly", spec, moment(created))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckCommand(c); err != nil {
		t.Fatal(err)
	}
	return &Schedule{
		Name: c.Name, Spec: c.Spec, State: ScheduleEnabled, Anchor: c.Anchor, NextFire: c.Next,
		Version: c.ID, MovedAt: moment(created), CreatedAt: moment(created), UpdatedAt: moment(created),
	}
}

// planned returns the command of PlanFire, or nil.
func planned(t testing.TB, s *Schedule, now time.Time) *Fire {
	t.Helper()
	f, err := PlanFire(sampleMeta(2), s, now, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		return nil
	}
	if err := CheckCommand(f); err != nil {
		t.Fatalf("at %s: %v", now, err)
	}
	if f.Schedule != s.Name || f.Version != s.Version || !f.Expect.Equal(s.NextFire) {
		t.Fatalf("%+v is not a fire of %+v", f, s)
	}
	return f
}

// follow advances the next fire as a store does.
func follow(s *Schedule, f *Fire, now time.Time) {
	s.NextFire, s.MovedAt = f.Next, now
	if n := len(f.Times); n > 0 {
		s.LastFire = f.Times[n-1].At
	}
}

// drained fires until nothing is due, as the firer does.
func drained(t testing.TB, s *Schedule, now time.Time) (fires []*Fire) {
	t.Helper()
	for f := planned(t, s, now); f != nil; f = planned(t, s, now) {
		if fires = append(fires, f); len(fires) > 5000 {
			t.Fatalf("at %s: no end of fires", now)
		}
		follow(s, f, now)
	}
	return fires
}

func timesOf(fires ...*Fire) (times []time.Time) {
	for _, f := range fires {
		for _, ft := range f.Times {
			times = append(times, ft.At)
		}
	}
	return times
}

// show formats times of one day in short form.
func show(times ...time.Time) string {
	texts := make([]string, len(times))
	for i, at := range times {
		texts[i] = strings.TrimSuffix(at.Format("2006-01-02 15:04:05.999999"), ":00")
		if at.IsZero() {
			texts[i] = "never"
		}
	}
	return strings.Join(texts, ", ")
}

func TestDeclareComputesFirstFire(t *testing.T) {
	for _, test := range []struct {
		name string
		spec ScheduleSpec
		now  string
		want string
	}{
		{"cron", ScheduleSpec{Cron: "0 9 * * *"}, "2026-11-15 08:00", "2026-11-15 09:00"},
		{"cron at its own time", ScheduleSpec{Cron: "0 9 * * *"}, "2026-11-15 09:00", "2026-11-16 09:00"},
		{"cron in a zone", ScheduleSpec{Cron: "0 9 * * *", Zone: "Europe/Berlin"}, "2026-11-15 08:00", "2026-11-16 08:00"},
		{"cron that starts later", ScheduleSpec{Cron: "0 9 * * *", StartsAt: moment("2026-12-01 09:00")}, "2026-11-15 08:00", "2026-12-01 09:00"},
		{"cron that has ended", ScheduleSpec{Cron: "0 9 * * *", EndsAt: moment("2026-11-15 08:59")}, "2026-11-15 08:00", "never"},
		{"at", ScheduleSpec{At: moment("2026-11-15 09:00:07.25")}, "2026-11-15 08:00", "2026-11-15 09:00:07.25"},
		{"at this very time", ScheduleSpec{At: moment("2026-11-15 09:00")}, "2026-11-15 09:00", "2026-11-15 09:00"},
		{"at a time that has passed, which the store refuses", ScheduleSpec{At: moment("2026-11-15 09:00")}, "2026-11-15 10:00", "2026-11-15 09:00"},
		{"at, cut to what is kept", ScheduleSpec{At: moment("2026-11-15 09:00").Add(999)}, "2026-11-15 08:00", "2026-11-15 09:00"},
		{"every, counted from now", ScheduleSpec{Every: time.Hour}, "2026-11-15 08:17:23.5", "2026-11-15 09:17:23.5"},
		{"every from a start to come", ScheduleSpec{Every: time.Hour, StartsAt: moment("2026-11-15 09:30")}, "2026-11-15 08:17", "2026-11-15 09:30"},
		{"every from a start gone by", ScheduleSpec{Every: time.Hour, StartsAt: moment("2020-01-01 00:30")}, "2026-11-15 08:17", "2026-11-15 08:30"},
	} {
		s := declared(t, test.spec, test.now)
		if got := show(s.NextFire); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if !s.Anchor.Equal(moment(test.now)) {
			t.Errorf("%s: counted from %s", test.name, s.Anchor)
		}
	}
}

// The schedule fires late each time, by amounts that are no multiple of the interval.
func TestPlanFireEveryDoesNotDrift(t *testing.T) {
	s := declared(t, ScheduleSpec{Every: time.Minute}, "2026-11-15 08:17:23.5")
	now, fired := s.CreatedAt, []time.Time(nil)
	for now.Before(s.CreatedAt.Add(24 * time.Hour)) {
		now = now.Add(17*time.Second + 313*time.Millisecond + 7)
		fired = append(fired, timesOf(drained(t, s, now)...)...)
	}
	for i, at := range fired {
		if want := s.CreatedAt.Add(time.Duration(i+1) * time.Minute); !at.Equal(want) {
			t.Fatalf("fire %d is for %s, want %s", i, at, want)
		}
	}
	if len(fired) != 1440 {
		t.Errorf("%d fires in a day of minutes", len(fired))
	}
}

// The table covers lateness and catch-up. The schedule is declared at 08:00 of one day;
// its due times are fired at now, in one command.
func TestPlanFireLatenessAndCatchUp(t *testing.T) {
	const day = "2026-11-15 "
	for _, test := range []struct {
		name    string
		spec    ScheduleSpec
		now     string
		times   []string
		next    string
		catchUp bool
		missed  string
	}{
		{name: "not yet", spec: ScheduleSpec{Cron: "0 9 * * *"}, now: "08:59:59.999999"},
		{name: "on time", spec: ScheduleSpec{Cron: "0 * * * *"}, now: "09:00", times: []string{"09:00"}, next: day + "10:00"},
		{name: "late by the grace", spec: ScheduleSpec{Cron: "0 * * * *"}, now: "09:01", times: []string{"09:00"}, next: day + "10:00"},
		{
			name: "late by the grace, without catch-up", spec: ScheduleSpec{Cron: "0 * * * *", CatchUp: CatchUpNone}, now: "09:01",
			times: []string{"09:00"}, next: day + "10:00",
		},
		{
			name: "each time within the grace", spec: ScheduleSpec{Every: 20 * time.Second, CatchUp: CatchUpNone}, now: "08:01:20",
			times: []string{"08:00:20", "08:00:40", "08:01", "08:01:20"}, next: day + "08:01:40",
		},
		{
			name: "later than the grace: last", spec: ScheduleSpec{Cron: "0 * * * *"}, now: "09:01:00.000001",
			times: []string{"09:00"}, next: day + "10:00", catchUp: true,
		},
		{
			name: "a gap: last", spec: ScheduleSpec{Cron: "0 * * * *", CatchUp: CatchUpLast}, now: "12:30",
			times: []string{"12:00"}, next: day + "13:00", catchUp: true, missed: day + "09:00",
		},
		{
			name: "a gap that ends on a fire", spec: ScheduleSpec{Cron: "0 * * * *"}, now: "12:00",
			times: []string{"12:00"}, next: day + "13:00", catchUp: true, missed: day + "09:00",
		},
		{
			name: "a gap: none", spec: ScheduleSpec{Cron: "0 * * * *", CatchUp: CatchUpNone}, now: "12:30",
			next: day + "13:00", catchUp: true, missed: day + "09:00",
		},
		{
			name: "a gap of one: none", spec: ScheduleSpec{Cron: "0 * * * *", CatchUp: CatchUpNone}, now: "09:02",
			next: day + "10:00", catchUp: true, missed: day + "09:00",
		},
		{
			name: "a gap: all", spec: ScheduleSpec{Cron: "0 * * * *", CatchUp: CatchUpAll}, now: "12:30",
			times: []string{"09:00", "10:00", "11:00", "12:00"}, next: day + "13:00", catchUp: true,
		},
		{
			name: "the last before the end", spec: ScheduleSpec{Cron: "0 * * * *", EndsAt: moment(day + "09:00")}, now: "09:00",
			times: []string{"09:00"}, next: "never",
		},
		{
			name: "a gap beyond the end: last", spec: ScheduleSpec{Cron: "0 * * * *", EndsAt: moment(day + "10:30")}, now: "20:00",
			times: []string{"10:00"}, next: "never", catchUp: true, missed: day + "09:00",
		},
		{
			name: "a gap beyond the end: all", spec: ScheduleSpec{Cron: "0 * * * *", EndsAt: moment(day + "10:30"), CatchUp: CatchUpAll}, now: "20:00",
			times: []string{"09:00", "10:00"}, next: "never", catchUp: true,
		},
		{name: "at, on time", spec: ScheduleSpec{At: moment(day + "09:00")}, now: "09:00:30", times: []string{"09:00"}, next: "never"},
		{
			name: "at, missed: last", spec: ScheduleSpec{At: moment(day + "09:00")}, now: "10:00",
			times: []string{"09:00"}, next: "never", catchUp: true,
		},
		{
			name: "at, missed: none", spec: ScheduleSpec{At: moment(day + "09:00"), CatchUp: CatchUpNone}, now: "10:00",
			next: "never", catchUp: true, missed: day + "09:00",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := declared(t, test.spec, day+"08:00")
			f := planned(t, s, moment(day+test.now))
			if f == nil {
				if test.next != "" {
					t.Fatal("nothing is due")
				}
				return
			}
			var want []time.Time
			for _, at := range test.times {
				want = append(want, moment(day+at))
			}
			if got := timesOf(f); !slices.EqualFunc(got, want, time.Time.Equal) || show(f.Next) != test.next || f.CatchUp != test.catchUp {
				t.Errorf("fires %s, then %s, catch-up %v\nwant %s, then %s, %v", show(got...), show(f.Next), f.CatchUp, show(want...), test.next, test.catchUp)
			}
			if test.missed == "" && !f.Missed.IsZero() || test.missed != "" && show(f.Missed) != test.missed {
				t.Errorf("missed from %s on, want %q", show(f.Missed), test.missed)
			}
		})
	}
}

// Times before a scheduler ran and before the schedule was resumed were missed, however
// short the interruption was. The times after that are late.
func TestPlanFireAppliesCatchUpBeforeStartAndResume(t *testing.T) {
	const day = "2026-11-15 "
	at := func(texts ...string) (times []time.Time) {
		for _, text := range texts {
			times = append(times, moment(day+text))
		}
		return times
	}
	for _, test := range []struct {
		name           string
		catchUp        CatchUp
		alive, resumed string
		want           []time.Time
	}{
		{name: "none", catchUp: CatchUpNone, alive: "08:00:31", want: at("08:00:40", "08:00:50")},
		{name: "last", catchUp: CatchUpLast, alive: "08:00:31", want: at("08:00:30", "08:00:40", "08:00:50")},
		{name: "all", catchUp: CatchUpAll, alive: "08:00:31", want: at("08:00:10", "08:00:20", "08:00:30", "08:00:40", "08:00:50")},
		{name: "started at a fire time", catchUp: CatchUpNone, alive: "08:00:30", want: at("08:00:30", "08:00:40", "08:00:50")},
		{name: "started after all times", catchUp: CatchUpNone, alive: "08:00:55"},
		{name: "started before all times", catchUp: CatchUpNone, alive: "08:00:05", want: at("08:00:10", "08:00:20", "08:00:30", "08:00:40", "08:00:50")},
		{name: "resumed: none", catchUp: CatchUpNone, resumed: "08:00:45", want: at("08:00:50")},
		{name: "resumed: last", catchUp: CatchUpLast, resumed: "08:00:45", want: at("08:00:40", "08:00:50")},
		{name: "resumed before the start", catchUp: CatchUpLast, alive: "08:00:45", resumed: "08:00:15", want: at("08:00:40", "08:00:50")},
		{name: "resumed by a clock that was ahead", catchUp: CatchUpNone, resumed: "09:00", want: at("08:00:10", "08:00:20", "08:00:30", "08:00:40", "08:00:50")},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, now := declared(t, ScheduleSpec{Every: 10 * time.Second, CatchUp: test.catchUp}, day+"08:00"), moment(day+"08:00:55")
			var alive time.Time
			if test.alive != "" {
				alive = moment(day + test.alive)
			}
			if test.resumed != "" {
				s.ResumedAt = moment(day + test.resumed)
			}
			var got []time.Time
			for !s.NextFire.After(now) {
				f, err := PlanFire(sampleMeta(2), s, now, alive)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, timesOf(f)...)
				follow(s, f, now)
			}
			if !slices.EqualFunc(got, test.want, time.Time.Equal) {
				t.Errorf("fires %s, want %s", show(got...), show(test.want...))
			}
		})
	}
}

func TestPlanFireWithoutNextFireIsNil(t *testing.T) {
	s := declared(t, ScheduleSpec{Cron: "0 * * * *"}, "2026-11-15 08:00")
	s.NextFire = time.Time{}
	if f := planned(t, s, moment("2026-11-15 12:00")); f != nil {
		t.Errorf("fires %+v", f)
	}
}

// The next fire is no longer in the timetable, because the rules of the zone have changed
// since it was computed.
func TestPlanFireKeepsNextFireMissingInTimetable(t *testing.T) {
	for _, now := range []string{"2026-11-15 08:30", "2026-11-15 08:45"} {
		s := declared(t, ScheduleSpec{Cron: "0 * * * *"}, "2026-11-15 08:00")
		s.NextFire = moment("2026-11-15 08:30")
		f := planned(t, s, moment(now))
		if got := show(append(timesOf(f), f.Next, f.Missed)...); got != "2026-11-15 08:30, 2026-11-15 09:00, never" {
			t.Errorf("at %s: %s", now, got)
		}
	}
}

// Catch-up over ten years of minutes fires the newest 1,000 times, fifty per command, and
// records the times that it gives up.
func TestPlanFireLongGapIsBounded(t *testing.T) {
	s := declared(t, ScheduleSpec{Cron: "* * * * *", CatchUp: CatchUpAll}, "2016-11-15 03:30")
	first, now := s.NextFire, moment("2026-11-15 03:30:30")
	fires := drained(t, s, now)
	for i, f := range fires {
		if len(f.Times) != FireJobsMax || !f.CatchUp || f.Missed.IsZero() != (i > 0) {
			t.Fatalf("page %d has %d times, missed from %s on", i, len(f.Times), show(f.Missed))
		}
	}
	times := timesOf(fires...)
	if len(times) != CatchUpMax || !fires[0].Missed.Equal(first) {
		t.Fatalf("%d times; missed from %s on", len(times), fires[0].Missed)
	}
	for i, at := range times {
		if want := moment("2026-11-15 03:30").Add(time.Duration(i-CatchUpMax+1) * time.Minute); !at.Equal(want) {
			t.Fatalf("time %d is %s, want %s", i, at, want)
		}
	}
	if show(s.NextFire) != "2026-11-15 03:31" {
		t.Errorf("then fires at %s", s.NextFire)
	}
}

// counted counts the calls of a timetable.
type counted struct {
	cron.Timetable
	calls int
}

func (c *counted) Next(after time.Time) (time.Time, bool) {
	c.calls++
	return c.Timetable.Next(after)
}

func (c *counted) Prev(before time.Time) (time.Time, bool) {
	c.calls++
	return c.Timetable.Prev(before)
}

// The number of timetable calls depends on the number of fired times, not on the length
// of the gap.
func TestPlanFireTimetableCallsAreBounded(t *testing.T) {
	const windows = 3 * FireJobsMax // start and end of the window of a time, and whether it is over
	for _, test := range []struct {
		spec ScheduleSpec
		late time.Duration
		most int
	}{
		{ScheduleSpec{Every: time.Millisecond}, MisfireGrace, FireJobsMax + 1 + windows},
		{ScheduleSpec{Every: time.Millisecond, CatchUp: CatchUpNone}, 10 * 365 * day, 1},
		{ScheduleSpec{Every: time.Millisecond, CatchUp: CatchUpLast}, 10 * 365 * day, 3 + 3},
		{ScheduleSpec{Every: time.Millisecond, CatchUp: CatchUpAll}, 10 * 365 * day, CatchUpMax + 2 + windows},
		{ScheduleSpec{Cron: "* * * * *", CatchUp: CatchUpAll}, 10 * 365 * day, CatchUpMax + 2 + windows},
	} {
		test.spec.DependsOn = []string{"backup"}
		s := declared(t, test.spec, "2016-11-15 03:30")
		table, err := s.Timetable()
		if err != nil {
			t.Fatal(err)
		}
		asked, f, now := &counted{Timetable: table}, &Fire{}, s.NextFire.Add(test.late)
		if test.late <= MisfireGrace {
			f.planEach(asked, s, now)
		} else {
			f.CatchUp = true
			f.planMissed(asked, s, now)
		}
		f.setWindows(asked, s, now)
		t.Logf("%s %s: asked %d times for %d", test.spec.Cron, test.spec.CatchUp, asked.calls, len(f.Times))
		if asked.calls > test.most {
			t.Errorf("%s %s: asked %d times for %d, want at most %d", test.spec.Cron, test.spec.CatchUp, asked.calls, len(f.Times), test.most)
		}
		if real := planned(t, s, now); !slices.Equal(real.Times, f.Times) {
			t.Errorf("%s %s: PlanFire makes something else", test.spec.Cron, test.spec.CatchUp)
		}
	}
}

// With more scopes, a Fire holds fewer times, but at least one.
func TestPlanFireBoundsJobsByScopes(t *testing.T) {
	for scopes, most := range map[int]int{0: 50, 1: 50, 7: 7, 25: 2, 26: 1, 50: 1, ScopesMax: 1} {
		for _, every := range []time.Duration{time.Second, time.Hour} { // within the grace, and a gap
			spec := ScheduleSpec{Every: every, CatchUp: CatchUpAll}
			for i := range scopes {
				spec.Scopes = append(spec.Scopes, Scope{"user", fmt.Sprint(i)})
			}
			s := declared(t, spec, "2026-11-15 08:00")
			from := s.NextFire
			fires := drained(t, s, s.NextFire.Add(59*every))
			times := timesOf(fires...)
			for i, at := range times {
				if !at.Equal(from.Add(time.Duration(i) * every)) {
					t.Fatalf("%d scopes: time %d is %s", scopes, i, at)
				}
			}
			if len(fires[0].Times) != most || len(times) != 60 {
				t.Errorf("%d scopes every %s: %d times a fire, %d in all; want %d, 60", scopes, every, len(fires[0].Times), len(times), most)
			}
		}
	}
}

func TestPlanFireRefusesInvalidSchedule(t *testing.T) {
	s := &Schedule{Name: "s", Spec: ScheduleSpec{Template: "mail", Cron: "0 9 * * *", Zone: "Mars/Olympus"}, NextFire: sampleTime}
	if _, err := PlanFire(sampleMeta(1), s, sampleTime, time.Time{}); CodeOf(err) != Invalid {
		t.Errorf("fire: %v", err)
	}
	if _, err := PlanBackfill(sampleMeta(1), s, sampleTime, sampleTime, sampleTime); CodeOf(err) != Invalid {
		t.Errorf("backfill: %v", err)
	}
	if _, err := s.NextAfter(sampleTime); CodeOf(err) != Invalid {
		t.Errorf("next: %v", err)
	}
}
