package cron

import (
	"testing"
	"time"
)

// TestClockChanges can be verified with a calendar and the dates of the clock changes. Each row is an expression, its
// zone, the local time at which the list begins, and the expected fires in local time with offset.
func TestClockChanges(t *testing.T) {
	for _, row := range []struct {
		what, text, zone, from string
		want                   []string
	}{
		// Berlin: 2026-03-29 02:00 becomes 03:00; 2026-10-25 03:00 becomes 02:00.
		{"Berlin in spring, 02:30 is skipped", "30 2 * * *", "Europe/Berlin", "2026-03-28 00:00", []string{
			"Sat 2026-03-28 02:30 +01:00", "Mon 2026-03-30 02:30 +02:00", "Tue 2026-03-31 02:30 +02:00",
		}},
		{"Berlin in spring, the hour after the gap is not affected", "30 3 * * *", "Europe/Berlin", "2026-03-28 00:00", []string{
			"Sat 2026-03-28 03:30 +01:00", "Sun 2026-03-29 03:30 +02:00", "Mon 2026-03-30 03:30 +02:00",
		}},
		{"Berlin in spring, some of a list are skipped", "0 1-4 * * *", "Europe/Berlin", "2026-03-29 00:00", []string{
			"Sun 2026-03-29 01:00 +01:00", "Sun 2026-03-29 03:00 +02:00", "Sun 2026-03-29 04:00 +02:00",
			"Mon 2026-03-30 01:00 +02:00", "Mon 2026-03-30 02:00 +02:00",
		}},
		{"Berlin in spring, every 15 minutes continues", "*/15 * * * *", "Europe/Berlin", "2026-03-29 01:30", []string{
			"Sun 2026-03-29 01:45 +01:00", "Sun 2026-03-29 03:00 +02:00", "Sun 2026-03-29 03:15 +02:00",
		}},
		{"Berlin in autumn, 02:30 fires once, the first time", "30 2 * * *", "Europe/Berlin", "2026-10-24 00:00", []string{
			"Sat 2026-10-24 02:30 +02:00", "Sun 2026-10-25 02:30 +02:00", "Mon 2026-10-26 02:30 +01:00",
			"Tue 2026-10-27 02:30 +01:00",
		}},
		{"Berlin in autumn, every quarter of one hour fires once", "*/15 2 * * *", "Europe/Berlin", "2026-10-25 00:00", []string{
			"Sun 2026-10-25 02:00 +02:00", "Sun 2026-10-25 02:15 +02:00", "Sun 2026-10-25 02:30 +02:00",
			"Sun 2026-10-25 02:45 +02:00", "Mon 2026-10-26 02:00 +01:00",
		}},
		{"Berlin in autumn, 03:00 fires after the repeated hour", "0 2,3 * * *", "Europe/Berlin", "2026-10-25 00:00", []string{
			"Sun 2026-10-25 02:00 +02:00", "Sun 2026-10-25 03:00 +01:00", "Mon 2026-10-26 02:00 +01:00",
		}},
		{"Berlin in autumn, with every hour both fire", "30 * * * *", "Europe/Berlin", "2026-10-25 01:00", []string{
			"Sun 2026-10-25 01:30 +02:00", "Sun 2026-10-25 02:30 +02:00", "Sun 2026-10-25 02:30 +01:00",
			"Sun 2026-10-25 03:30 +01:00",
		}},
		{"Berlin in autumn, 0-23 is every hour too", "30 0-23 * * *", "Europe/Berlin", "2026-10-25 02:00", []string{
			"Sun 2026-10-25 02:30 +02:00", "Sun 2026-10-25 02:30 +01:00",
		}},
		{"Berlin in autumn, */1 is every hour too", "30 */1 * * 7", "Europe/Berlin", "2026-10-25 02:00", []string{
			"Sun 2026-10-25 02:30 +02:00", "Sun 2026-10-25 02:30 +01:00",
		}},
		{"Berlin in autumn, */2 is a restriction", "30 */2 * * *", "Europe/Berlin", "2026-10-25 00:00", []string{
			"Sun 2026-10-25 00:30 +02:00", "Sun 2026-10-25 02:30 +02:00", "Sun 2026-10-25 04:30 +01:00",
		}},

		// New York: 2026-03-08 02:00 becomes 03:00; 2026-11-01 02:00 becomes 01:00.
		{"New York in spring, 02:00 is skipped", "0 2 * * *", "America/New_York", "2026-03-07 00:00", []string{
			"Sat 2026-03-07 02:00 -05:00", "Mon 2026-03-09 02:00 -04:00",
		}},
		{"New York in autumn, every minute of 01 fires once", "0-59 1 * * *", "America/New_York", "2026-11-01 01:57", []string{
			"Sun 2026-11-01 01:58 -04:00", "Sun 2026-11-01 01:59 -04:00", "Mon 2026-11-02 01:00 -05:00",
		}},
		{"New York in autumn, every 15 minutes continues", "*/15 * * * *", "America/New_York", "2026-11-01 01:30", []string{
			"Sun 2026-11-01 01:45 -04:00", "Sun 2026-11-01 01:00 -05:00", "Sun 2026-11-01 01:15 -05:00",
		}},

		// São Paulo: 2018-11-04 00:00 became 01:00; 2018-02-18 00:00 became 23:00 of the day before.
		{"São Paulo in spring, midnight is skipped", "0 0 * * *", "America/Sao_Paulo", "2018-11-02 12:00", []string{
			"Sat 2018-11-03 00:00 -03:00", "Mon 2018-11-05 00:00 -02:00", "Tue 2018-11-06 00:00 -02:00",
		}},
		{"São Paulo in spring, the first minute is 01:00", "* * 4 11 *", "America/Sao_Paulo", "2018-11-03 12:00", []string{
			"Sun 2018-11-04 01:00 -02:00", "Sun 2018-11-04 01:01 -02:00",
		}},
		{"São Paulo in autumn, 23:30 fires once, on the Saturday", "30 23 * * *", "America/Sao_Paulo", "2018-02-17 12:00", []string{
			"Sat 2018-02-17 23:30 -02:00", "Sun 2018-02-18 23:30 -03:00",
		}},
		{"São Paulo in autumn, midnight fires once", "0 0 * * *", "America/Sao_Paulo", "2018-02-17 12:00", []string{
			"Sun 2018-02-18 00:00 -03:00", "Mon 2018-02-19 00:00 -03:00",
		}},
		{"São Paulo in autumn, hourly on Saturdays fires at 23:00 twice", "0 * * * SAT", "America/Sao_Paulo", "2018-02-17 22:30", []string{
			"Sat 2018-02-17 23:00 -02:00", "Sat 2018-02-17 23:00 -03:00", "Sat 2018-02-24 00:00 -03:00",
		}},

		// Santiago: 2026-09-06 00:00 becomes 01:00; 2026-04-05 00:00 becomes 23:00 of the day before.
		{"Santiago in spring, midnight is skipped", "0 0 * * *", "America/Santiago", "2026-09-04 12:00", []string{
			"Sat 2026-09-05 00:00 -04:00", "Mon 2026-09-07 00:00 -03:00",
		}},
		{"Santiago in autumn, 23:30 fires once", "30 23 * * *", "America/Santiago", "2026-04-04 12:00", []string{
			"Sat 2026-04-04 23:30 -03:00", "Sun 2026-04-05 23:30 -04:00",
		}},

		// Lord Howe: 2026-10-04 02:00 becomes 02:30; 2026-04-05 02:00 becomes 01:30.
		{"Lord Howe in spring, the first half of 02 is skipped", "*/15 2 * * *", "Australia/Lord_Howe", "2026-10-04 00:00", []string{
			"Sun 2026-10-04 02:30 +11:00", "Sun 2026-10-04 02:45 +11:00", "Mon 2026-10-05 02:00 +11:00",
		}},
		{"Lord Howe in spring, hourly at 00 has no 02:00", "0 * * * *", "Australia/Lord_Howe", "2026-10-04 00:30", []string{
			"Sun 2026-10-04 01:00 +10:30", "Sun 2026-10-04 03:00 +11:00", "Sun 2026-10-04 04:00 +11:00",
		}},
		{"Lord Howe in autumn, the second half of 01 fires once", "*/15 1 * * *", "Australia/Lord_Howe", "2026-04-05 01:10", []string{
			"Sun 2026-04-05 01:15 +11:00", "Sun 2026-04-05 01:30 +11:00", "Sun 2026-04-05 01:45 +11:00",
			"Mon 2026-04-06 01:00 +10:30",
		}},
		{"Lord Howe in autumn, hourly at 30 fires at 01:30 twice", "30 * * * *", "Australia/Lord_Howe", "2026-04-05 01:00", []string{
			"Sun 2026-04-05 01:30 +11:00", "Sun 2026-04-05 01:30 +10:30", "Sun 2026-04-05 02:30 +10:30",
		}},
		{"Lord Howe in autumn, every 15 minutes continues", "*/15 * * * *", "Australia/Lord_Howe", "2026-04-05 01:40", []string{
			"Sun 2026-04-05 01:45 +11:00", "Sun 2026-04-05 01:30 +10:30", "Sun 2026-04-05 01:45 +10:30",
			"Sun 2026-04-05 02:00 +10:30",
		}},

		// Sydney: 2026-10-04 02:00 becomes 03:00; 2026-04-05 03:00 becomes 02:00.
		{"Sydney in spring, 02:30 is skipped", "30 2 * * *", "Australia/Sydney", "2026-10-03 00:00", []string{
			"Sat 2026-10-03 02:30 +10:00", "Mon 2026-10-05 02:30 +11:00",
		}},
		{"Sydney in autumn, 02:30 fires once", "30 2 * * *", "Australia/Sydney", "2026-04-04 00:00", []string{
			"Sat 2026-04-04 02:30 +11:00", "Sun 2026-04-05 02:30 +11:00", "Mon 2026-04-06 02:30 +10:00",
		}},

		// Tehran: 2021-03-22 00:00 became 01:00; 2022-09-22 00:00 became 23:00 of the day before, for the last time.
		{"Tehran in spring, midnight is skipped", "0 0 * * *", "Asia/Tehran", "2021-03-20 12:00", []string{
			"Sun 2021-03-21 00:00 +03:30", "Tue 2021-03-23 00:00 +04:30",
		}},
		{"Tehran in autumn, 23:00 fires once", "0 23 * * *", "Asia/Tehran", "2022-09-21 12:00", []string{
			"Wed 2022-09-21 23:00 +04:30", "Thu 2022-09-22 23:00 +03:30",
		}},
		{"Tehran in the next spring, midnight exists", "0 0 * * *", "Asia/Tehran", "2023-03-21 12:00", []string{
			"Wed 2023-03-22 00:00 +03:30", "Thu 2023-03-23 00:00 +03:30",
		}},

		// Apia: there was no Friday 2011-12-30.
		{"Apia, the missing day is skipped", "0 9 * * *", "Pacific/Apia", "2011-12-29 00:00", []string{
			"Thu 2011-12-29 09:00 -10:00", "Sat 2011-12-31 09:00 +14:00", "Sun 2012-01-01 09:00 +14:00",
		}},
		{"Apia, the missing Friday is skipped", "0 9 * * FRI", "Pacific/Apia", "2011-12-23 00:00", []string{
			"Fri 2011-12-23 09:00 -10:00", "Fri 2012-01-06 09:00 +14:00",
		}},
		{"Apia, the 30th is skipped that year", "0 9 30 12 *", "Pacific/Apia", "2010-01-01 00:00", []string{
			"Thu 2010-12-30 09:00 -10:00", "Sun 2012-12-30 09:00 +14:00",
		}},
		{"Apia, hourly continues", "0 * * * *", "Pacific/Apia", "2011-12-29 22:30", []string{
			"Thu 2011-12-29 23:00 -10:00", "Sat 2011-12-31 00:00 +14:00", "Sat 2011-12-31 01:00 +14:00",
		}},
	} {
		t.Run(row.what, func(t *testing.T) {
			c := mustParse(t, row.text, row.zone)
			at, err := ParseTime(row.from, c.Location())
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range row.want {
				var ok bool
				if at, ok = c.Next(at); !ok || at.Format(wallLayout) != want {
					t.Fatalf("%s fires at %s, want %s", row.text, at.Format(wallLayout), want)
				}
			}
		})
	}
}

const wallLayout = "Mon 2006-01-02 15:04 -07:00"

// TestEvery15MinutesAdvancesBy15MinutesOfRealTime checks */15 for a year in zones that shift by multiples of 15 minutes.
func TestEvery15MinutesAdvancesBy15MinutesOfRealTime(t *testing.T) {
	for _, zone := range []string{
		"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu",
	} {
		c := mustParse(t, "*/15 * * * *", zone)
		at := instant(t, "2026-01-01")
		for end := instant(t, "2027-01-01"); at.Before(end); {
			next, _ := c.Next(at)
			if next.Sub(at) != 15*time.Minute {
				t.Fatalf("%s: %v after %v", zone, next, at)
			}
			at = next
		}
	}
}
