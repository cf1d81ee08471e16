package main

import (
	"fmt"
	"time"
)

// moment is a time at which tests run, and the time zone of the machine then.
type moment struct {
	name string
	at   time.Time
	zone string
}

func (m moment) String() string {
	return fmt.Sprintf("%-18s %s TZ=%s", m.name, m.at.UTC().Format("2006-01-02T15:04:05Z"), m.zone)
}

// moments are those at which a test that reads the clock is most likely to fail: about
// midnight, at the ends of months and years, and where a day has 23 or 25 hours.
var moments = []moment{
	{"half past midnight", utc("2027-01-20T00:30:00Z"), "UTC"},
	{"half past one", utc("2027-07-15T01:30:00Z"), "UTC"},
	{"before three", utc("2027-01-20T02:59:30Z"), "UTC"}, // most schedules of the tests are for 03:00
	{"noon", utc("2027-06-15T12:00:00Z"), "UTC"},
	{"before midnight", utc("2027-06-15T23:59:30Z"), "UTC"},
	{"leap day", utc("2028-02-29T12:00:00Z"), "UTC"},
	{"far leap day ends", utc("2036-02-29T23:59:30Z"), "UTC"}, // what is valid for a few years has expired
	{"year ends", utc("2027-12-31T23:59:30Z"), "UTC"},
	{"spring forward", utc("2027-03-28T00:59:30Z"), "Europe/Berlin"}, // to 03:00 at 01:00 UTC
	{"fall back", utc("2027-10-31T00:59:30Z"), "Europe/Berlin"},      // to 02:00 at 01:00 UTC
	{"Berlin", utc("2027-06-14T22:30:00Z"), "Europe/Berlin"},         // 00:30 there, and in the next two
	{"New York", utc("2027-01-20T05:30:00Z"), "America/New_York"},
	{"Kiritimati", utc("2027-06-14T10:30:00Z"), "Pacific/Kiritimati"}, // UTC+14: a day ahead of UTC
}

func utc(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// quick are the packages that are tested if none is named: those that read the clock, are
// done within half a minute and start neither PostgreSQL nor MariaDB.
var quick = []string{
	".", "./sql/system", "./cron", "./crontab", "./eventring", "./httpapi", "./node", "./payload", "./report", "./store/wrap", "./telemetry", "./worker",
}
