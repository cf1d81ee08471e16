package cron

import (
	"testing"
	"time"
)

func TestUpcomingNotesClockChanges(t *testing.T) {
	for _, row := range []struct {
		what, text, zone, from string
		want                   []string // one note per fire, mostly empty
	}{
		{"no clock change", "30 2 * * *", "Europe/Berlin", "2026-06-01", []string{"", "", ""}},
		{"UTC has no clock changes", "30 2 * * *", "UTC", "2026-03-28", []string{"", "", ""}},
		{"one skipped", "30 2 * * *", "Europe/Berlin", "2026-03-28", []string{
			"", "skipped 2026-03-29 02:30: it does not exist, clocks go forward", "",
		}},
		{"a few skipped", "0,20,40 2 * * *", "Europe/Berlin", "2026-03-29", []string{
			"skipped 2026-03-29 02:00, 02:20 and 02:40: they do not exist, clocks go forward", "",
		}},
		{"many skipped", "* 2 * * *", "Europe/Berlin", "2026-03-29", []string{
			"skipped 60 times from 2026-03-29 02:00 to 2026-03-29 02:59: they do not exist, clocks go forward", "",
		}},
		{"skipped half an hour", "*/15 2 * * *", "Australia/Lord_Howe", "2026-10-04", []string{
			"skipped 2026-10-04 02:00 and 02:15: they do not exist, clocks go forward", "", "",
		}},
		{"skipped midnight", "0 0 * * *", "America/Sao_Paulo", "2018-11-03 12:00", []string{
			"skipped 2018-11-04 00:00: it does not exist, clocks go forward", "",
		}},
		{"skipped day", "0 9 * * *", "Pacific/Apia", "2011-12-29", []string{
			"", "skipped 2011-12-30 09:00: it does not exist, clocks go forward", "",
		}},
		{"skipped in two years before one fire", "30 3 1 4 *", "Asia/Baghdad", "2006-01-01", []string{
			"skipped 2006-04-01 03:30: it does not exist, clocks go forward; " +
				"skipped 2007-04-01 03:30: it does not exist, clocks go forward", "",
		}},
		{"nothing planned in the gap", "30 4 * * *", "Europe/Berlin", "2026-03-28", []string{"", "", ""}},
		{"not planned on the day of the gap", "30 2 * * 1", "Europe/Berlin", "2026-03-28", []string{"", ""}},
		{"twice, fires once", "30 2 * * *", "Europe/Berlin", "2026-10-24", []string{
			"", "02:30 occurs twice on 2026-10-25, clocks go back; fires once, the first time", "",
		}},
		{"a gap over midnight", "15,45 0,23 * * *", "America/Toronto", "1919-03-30 23:00", []string{
			"", "skipped 1919-03-30 23:45 and 1919-03-31 00:15: they do not exist, clocks go forward", "",
		}},
		{"a gap of several times in a day", "0 12,23 * * *", "Pacific/Apia", "2011-12-29 12:30", []string{
			"", "skipped 2011-12-30 12:00 and 23:00: they do not exist, clocks go forward",
		}},
		{"the list begins between the two occurrences", "30 2 * * *", "Europe/Berlin", "2026-10-25 02:45 +02:00", []string{
			"skipped 2026-10-25 02:30 the second time: clocks go back, it fires once", "",
		}},
		{"the list begins in the repeated hour", "30 2 * * *", "Europe/Berlin", "2026-10-25 02:15 +01:00", []string{
			"skipped 2026-10-25 02:30 the second time: clocks go back, it fires once", "",
		}},
		{"the list begins after the second occurrence", "30 2 * * *", "Europe/Berlin", "2026-10-25 02:30 +01:00", []string{"", ""}},
		{"a repeated hour among many", "*/15 0-22 * * *", "Europe/Berlin", "2026-10-25 02:30", []string{
			"02:45 occurs twice on 2026-10-25, clocks go back; fires once, the first time",
			"skipped 2026-10-25 02:00, 02:15, 02:30 and 02:45 the second time: clocks go back, they fire once", "",
		}},
		{"a repeated hour before midnight", "*/30 0-11,13-23 * * *", "America/Sao_Paulo", "2018-02-17 23:15 -02:00", []string{
			"23:30 occurs twice on 2018-02-17, clocks go back; fires once, the first time",
			"skipped 2018-02-17 23:00 and 23:30 the second time: clocks go back, they fire once", "",
		}},
		{"twice, on the evening before", "30 23 * * *", "America/Santiago", "2026-04-04", []string{
			"23:30 occurs twice on 2026-04-04, clocks go back; fires once, the first time", "",
		}},
		{"follows the wall clock back", "30 * * * *", "America/New_York", "2026-11-01 00:00", []string{
			"",
			"01:30 occurs twice on 2026-11-01, clocks go back; this is the first time",
			"01:30 occurs twice on 2026-11-01, clocks go back; this is the second time",
			"",
		}},
		{"follows the wall clock forward", "*/30 * * * *", "America/New_York", "2026-03-08 01:15", []string{
			"", "clocks go forward from 2026-03-08 02:00 to 2026-03-08 03:00, follows the real clock", "",
		}},
		{"follows the wall clock forward, nothing planned that day", "0 * * * 1", "America/New_York", "2026-03-07", []string{"", ""}},
	} {
		t.Run(row.what, func(t *testing.T) {
			c := mustParse(t, row.text, row.zone)
			from, err := ParseTime(row.from, c.Location())
			if err != nil {
				t.Fatal(err)
			}
			fires := Upcoming(c, from, len(row.want))
			for i, want := range row.want {
				if fires[i].Note != want {
					t.Errorf("%v:\n got %q\nwant %q", fires[i].At, fires[i].Note, want)
				}
			}
		})
	}
}

// TestUpcomingOfBoundedAndAt checks that the list ends with the timetable, and that Bounded keeps the notes of the
// timetable inside it.
func TestUpcomingOfBoundedAndAt(t *testing.T) {
	c := mustParse(t, "30 2 * * *", "Europe/Berlin")
	bounded, err := Within(c, instant(t, "2026-03-29 00:00"), instant(t, "2026-03-31 00:30"))
	if err != nil {
		t.Fatal(err)
	}
	fires := Upcoming(bounded, instant(t, "2026-01-01"), 10)
	if len(fires) != 2 || fires[0].Note != "skipped 2026-03-29 02:30: it does not exist, clocks go forward" || fires[1].Note != "" {
		t.Errorf("%+v", fires)
	}
	once, err := NewAt(instant(t, "2026-03-29 01:30"))
	if err != nil {
		t.Fatal(err)
	}
	if fires := Upcoming(once, time.Time{}, 10); len(fires) != 1 || fires[0].Note != "" {
		t.Errorf("%+v", fires)
	}
}
