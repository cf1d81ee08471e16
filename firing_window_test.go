package rota

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// A window starts at the previous time or at the creation of the schedule, and ends at
// the next time or after a day.
func TestPlanFireSetsDependencyWindows(t *testing.T) {
	hourly := ScheduleSpec{Cron: "0 * * * *", CatchUp: CatchUpAll}
	for _, test := range []struct {
		name string
		spec ScheduleSpec
		now  string
		want []string // at, from, until
	}{
		{"the first fire, from the beginning on", hourly, "2026-11-15 09:00", []string{"2026-11-15 09:00, 2026-11-15 08:20, 2026-11-15 10:00"}},
		{"missed ones, for a day from now, but the newest until the next", hourly, "2026-11-15 11:30", []string{
			"2026-11-15 09:00, 2026-11-15 08:20, 2026-11-16 11:30",
			"2026-11-15 10:00, 2026-11-15 09:00, 2026-11-16 11:30",
			"2026-11-15 11:00, 2026-11-15 10:00, 2026-11-15 12:00",
		}},
		{
			"the latest of a gap, from the time before it",
			ScheduleSpec{Cron: "0 * * * *"},
			"2026-11-15 11:30",
			[]string{"2026-11-15 11:00, 2026-11-15 10:00, 2026-11-15 12:00"},
		},
		{
			"within the grace, until the next after now",
			ScheduleSpec{Every: 30 * time.Second},
			"2026-11-15 08:21:10",
			[]string{
				"2026-11-15 08:20:30, 2026-11-15 08:20, 2026-11-15 08:21:30",
				"2026-11-15 08:21, 2026-11-15 08:20:30, 2026-11-15 08:21:30",
			},
		},
		{
			"at, for a day",
			ScheduleSpec{At: moment("2026-11-15 09:00")},
			"2026-11-15 09:00",
			[]string{"2026-11-15 09:00, 2026-11-15 08:20, 2026-11-16 09:00"},
		},
		{
			"at, late, for a day from now",
			ScheduleSpec{At: moment("2026-11-15 09:00")},
			"2026-11-15 11:00",
			[]string{"2026-11-15 09:00, 2026-11-15 08:20, 2026-11-16 11:00"},
		},
		{
			"the last before the end, for a day",
			ScheduleSpec{Cron: "0 * * * *", EndsAt: moment("2026-11-15 09:00")},
			"2026-11-15 09:00:10",
			[]string{"2026-11-15 09:00, 2026-11-15 08:20, 2026-11-16 09:00:10"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.spec.DependsOn = []string{"backup"}
			f := planned(t, declared(t, test.spec, "2026-11-15 08:20"), moment(test.now))
			checkWindows(t, f.Times, test.want)
			test.spec.DependsOn = nil
			for _, ft := range planned(t, declared(t, test.spec, "2026-11-15 08:20"), moment(test.now)).Times {
				if !ft.From.IsZero() || !ft.Until.IsZero() {
					t.Errorf("a schedule that depends on nothing has the window %s", show(ft.From, ft.Until))
				}
			}
		})
	}
}

func checkWindows(t *testing.T, times []FireTime, want []string) {
	t.Helper()
	var got []string
	for _, ft := range times {
		got = append(got, show(ft.At, ft.From, ft.Until))
		if !ft.From.Before(ft.At) || ft.Until.Before(ft.At) {
			t.Errorf("nothing can count in %s", got[len(got)-1])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// A backfill of times before the creation of the schedule ignores the creation, because
// otherwise no dependency could count.
func TestPlanBackfillWindowBeforeCreation(t *testing.T) {
	now := moment("2026-11-15 11:30")
	spec := ScheduleSpec{Cron: "0 * * * *", StartsAt: moment("2026-11-15 06:30"), DependsOn: []string{"backup"}}
	b, err := PlanBackfill(sampleMeta(1), declared(t, spec, "2026-11-15 08:20"), moment("2026-11-15 00:00"), moment("2026-11-15 10:00"), now)
	if err != nil {
		t.Fatal(err)
	}
	checkWindows(t, b.Times, []string{
		"2026-11-15 07:00, 2026-11-14 07:00, 2026-11-16 11:30",
		"2026-11-15 08:00, 2026-11-15 07:00, 2026-11-16 11:30",
		"2026-11-15 09:00, 2026-11-15 08:20, 2026-11-16 11:30",
		"2026-11-15 10:00, 2026-11-15 09:00, 2026-11-16 11:30",
	})
}

func TestPlanBackfillListsTimes(t *testing.T) {
	const day = "2026-11-15 "
	hourly := ScheduleSpec{Cron: "0 * * * *"}
	for _, test := range []struct {
		name     string
		spec     ScheduleSpec
		from, to string
		want     string
	}{
		{"both ends count", hourly, "09:00", "11:00", day + "09:00, " + day + "10:00, " + day + "11:00"},
		{"one time", hourly, "09:00", "09:00", day + "09:00"},
		{"a start between times", hourly, "09:00:00.000001", "10:00", day + "10:00"},
		{"within the bounds of the schedule", ScheduleSpec{Cron: "0 * * * *", EndsAt: moment(day + "09:30")}, "09:00", "11:00", day + "09:00"},
		{"at", ScheduleSpec{At: moment(day + "09:15")}, "09:00", "11:00", day + "09:15"},
		{"every, on its grid", ScheduleSpec{Every: 40 * time.Minute}, "09:00", "10:30", day + "09:20, " + day + "10:00"},
	} {
		s := declared(t, test.spec, day+"08:00")
		b, err := PlanBackfill(sampleMeta(1), s, moment(day+test.from), moment(day+test.to), moment(day+"12:00"))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := show(timesOf(&Fire{Times: b.Times})...); got != test.want || b.Schedule != s.Name {
			t.Errorf("%s: %s of %s, want %s", test.name, got, b.Schedule, test.want)
		}
		if err := CheckCommand(b); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestPlanBackfillRefuses(t *testing.T) {
	s := declared(t, ScheduleSpec{Cron: "* * * * *"}, "2026-11-15 08:00")
	for _, test := range []struct{ name, from, to, field, reason string }{
		{"an empty range", "2026-11-15 10:00", "2026-11-15 09:00", "to", "is 2026-11-15T09:00:00Z, before from, 2026-11-15T10:00:00Z"},
		{"the future", "2026-11-15 10:00", "2026-11-15 12:01", "to", "in the future; a backfill runs past times"},
		{"a range without times", "2026-11-15 10:00:01", "2026-11-15 10:00:59", "from", "nightly has no fire time between"},
		{"too many", "2026-11-14 00:00", "2026-11-14 16:40", "to", "more than 1000 fire times from"},
		{"ten years", "2016-11-14 00:00", "2026-11-14 16:40", "to", "more than 1000 fire times"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := PlanBackfill(sampleMeta(1), s, moment(test.from), moment(test.to), moment("2026-11-15 12:00"))
			var e *Error
			if !errors.As(err, &e) || e.Code != Invalid || e.Field != test.field || !strings.Contains(e.Reason, test.reason) {
				t.Errorf("got %v\nwant field %q, a reason with %q", err, test.field, test.reason)
			}
		})
	}
	b, err := PlanBackfill(sampleMeta(1), s, moment("2026-11-14 00:00"), moment("2026-11-14 16:39"), moment("2026-11-15 12:00"))
	if err != nil || len(b.Times) != BackfillMax || CheckCommand(b) != nil {
		t.Errorf("the most that is allowed: %v", err)
	}
}
