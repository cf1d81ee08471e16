package cron

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDescribe(t *testing.T) {
	for _, row := range []struct{ text, zone, want string }{
		// Every hour.
		{"* * * * *", "UTC", "every minute"},
		{"*/1 * * * *", "UTC", "every minute"},
		{"*/2 * * * *", "UTC", "every 2 minutes"},
		{"*/5 * * * *", "UTC", "every 5 minutes"},
		{"*/5 * * * *", "Europe/Berlin", "every 5 minutes, Berlin time"},
		{"*/15 * * * *", "Asia/Kathmandu", "every 15 minutes, Kathmandu time"},
		{"*/30 * * * *", "UTC", "every 30 minutes"},
		{"0,30 * * * *", "UTC", "every 30 minutes"},
		{"0 * * * *", "UTC", "every hour on the hour"},
		{"*/60 * * * *", "UTC", "every hour on the hour"},
		{"@hourly", "UTC", "every hour on the hour"},
		{"30 * * * *", "UTC", "at minute 30 of every hour"},
		{"5,35 * * * *", "UTC", "at minutes 5 and 35 of every hour"},
		{"5/15 * * * *", "UTC", "at minutes 5, 20, 35 and 50 of every hour"},
		{"*/7 * * * *", "UTC", "at minutes 0, 7, 14, … 56 of every hour"},
		{"*/9 * * * *", "UTC", "at minutes 0, 9, 18, … 54 of every hour"},
		{"*/25 * * * *", "UTC", "at minutes 0, 25 and 50 of every hour"},
		{"1/2 * * * *", "UTC", "at minutes 1, 3, 5, … 59 of every hour"},
		{"10-20 * * * *", "UTC", "at minutes 10 to 20 of every hour"},
		{"0,10-20,59 * * * *", "UTC", "at minutes 0, 10 to 20 and 59 of every hour"},
		// Some hours.
		{"0 0 * * *", "UTC", "every day at 00:00, UTC"},
		{"@daily", "America/New_York", "every day at 00:00, New York time"},
		{"30 9 * * *", "Europe/Berlin", "every day at 09:30, Berlin time"},
		{"0 9,17 * * *", "UTC", "every day at 09:00 and 17:00, UTC"},
		{"0,30 9,17 * * *", "UTC", "every day at 09:00, 09:30, 17:00 and 17:30, UTC"},
		{"*/15 2 * * *", "UTC", "every day at 02:00, 02:15, 02:30 and 02:45, UTC"},
		{"0 */4 * * *", "UTC", "every day at 00:00, 04:00, 08:00, 12:00, 16:00 and 20:00, UTC"},
		{"0 */2 * * *", "UTC", "every day at 00:00, 02:00, 04:00, … 22:00, UTC"},
		{"15 1/2 * * *", "UTC", "every day at 01:15, 03:15, 05:15, … 23:15, UTC"},
		{"0 9-17 * * *", "UTC", "every hour from 09:00 to 17:00, UTC"},
		{"30 9-17 * * *", "UTC", "every hour from 09:30 to 17:30, UTC"},
		{"* 9 * * *", "UTC", "every minute from 09:00 to 09:59, UTC"},
		{"* 9-17 * * *", "UTC", "every minute from 09:00 to 17:59, UTC"},
		{"*/15 9-17 * * *", "UTC", "every 15 minutes from 09:00 to 17:45, UTC"},
		{"*/7 9-17 * * *", "UTC", "at minutes 0, 7, 14, … 56 of hours 9 to 17, UTC"},
		{"*/7 9 * * *", "UTC", "at minutes 0, 7, 14, … 56 of hour 9, UTC"},
		{"*/30 */2 * * *", "UTC", "at minutes 0 and 30 of hours 0, 2, 4, … 22, UTC"},
		{"* 1,3,5 * * *", "UTC", "every minute of hours 1, 3 and 5, UTC"},
		{"0 0-9,12,18-23 * * *", "UTC", "at minute 0 of hours 0 to 9, 12 and 18 to 23, UTC"},
		// Days of the week.
		{"30 9 * * 1-5", "Europe/Berlin", "every weekday at 09:30, Berlin time"},
		{"30 9 * * MON,TUE,WED,THU,FRI", "UTC", "every weekday at 09:30, UTC"},
		{"0 9,17 * * 1,4", "America/New_York", "at 09:00 and 17:00 on Monday and Thursday, New York time"},
		{"0 0 * * 0", "UTC", "at 00:00 on Sunday, UTC"},
		{"@weekly", "UTC", "at 00:00 on Sunday, UTC"},
		{"0 0 * * 6,0", "UTC", "at 00:00 on Saturday and Sunday, UTC"},
		{"0 0 * * FRI-SUN", "UTC", "at 00:00 on Friday to Sunday, UTC"},
		{"0 0 * * 1-4", "UTC", "at 00:00 on Monday to Thursday, UTC"},
		{"0 0 * * */2", "UTC", "at 00:00 on Tuesday, Thursday, Saturday and Sunday, UTC"},
		{"*/5 * * * 1-5", "UTC", "every 5 minutes on weekdays, UTC"},
		{"*/5 9-17 * * 1-5", "Asia/Tokyo", "every 5 minutes from 09:00 to 17:55 on weekdays, Tokyo time"},
		{"0 * * * 6", "UTC", "every hour on the hour on Saturday, UTC"},
		// Days of the month, months.
		{"0 0 1 * *", "UTC", "at 00:00 on day 1 of every month, UTC"},
		{"@monthly", "Europe/Berlin", "at 00:00 on day 1 of every month, Berlin time"},
		{"0 0 1,15 * *", "UTC", "at 00:00 on days 1 and 15 of every month, UTC"},
		{"0 0 28-31 * *", "UTC", "at 00:00 on days 28 to 31 of every month, UTC"},
		{"0 0 */2 * *", "UTC", "at 00:00 on days 1, 3, 5, … 31 of every month, UTC"},
		{"@yearly", "UTC", "at 00:00 on day 1 of January, UTC"},
		{"0 0 29 2 *", "UTC", "at 00:00 on day 29 of February, UTC"},
		{"0 0 1 1,4,7,10 *", "UTC", "at 00:00 on day 1 of January, April, July and October, UTC"},
		{"0 0 1 */3 *", "UTC", "at 00:00 on day 1 of January, April, July and October, UTC"},
		{"0 9 * 6-8 *", "UTC", "at 09:00 every day in June to August, UTC"},
		{"*/5 * * 12 *", "UTC", "every 5 minutes in December, UTC"},
		{"0 9 * 12 1-5", "UTC", "at 09:00 on weekdays in December, UTC"},
		{"0 9 * 12 1", "UTC", "at 09:00 on Monday in December, UTC"},
		// Both kinds of days are joined by OR.
		{"0 0 13 * 5", "UTC", "at 00:00 on day 13 of every month and on every Friday, UTC"},
		{"0 0 13 * 1-5", "UTC", "at 00:00 on day 13 of every month and on every weekday, UTC"},
		{"0 0 1,15 1 1,4", "UTC", "at 00:00 on days 1 and 15 of January and on every Monday and Thursday in January, UTC"},
		// Zones.
		{"0 0 * * *", "America/Argentina/Buenos_Aires", "every day at 00:00, Buenos Aires time"},
		{"0 0 * * *", "US/Eastern", "every day at 00:00, US/Eastern time"},
		{"0 0 * * *", "Etc/GMT-5", "every day at 00:00, Etc/GMT-5 time"},
		// What H stands for is said.
		{"H H * * *", "UTC", "every day at 09:57, UTC"},
	} {
		if got := mustParse(t, row.text, row.zone).Describe(); got != row.want {
			t.Errorf("%q in %s:\n got %s\nwant %s", row.text, row.zone, got, row.want)
		}
	}
}

// TestDifferentExpressionsDescribeThemselvesDifferently compares expressions that differ in one value, which is as
// alike as they can be, and ones drawn apart.
func TestDifferentExpressionsDescribeThemselvesDifferently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCron(t, "a"), drawCron(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = a
			flip(t, &b)
		}
		if !sameSets(a, b) && a.Describe() == b.Describe() {
			t.Fatalf("%s says the same of %+v and %+v", a.Describe(), a, b)
		}
	})
}

// TestNeighboursDescribeThemselvesDifferently changes every single value of every set that people write.
func TestNeighboursDescribeThemselvesDifferently(t *testing.T) {
	for _, bench := range []string{
		"*/5 * * * *", "*/7 * * * *", "0 */2 * * *", "*/15 9-17 * * *", "30 9 * * 1-5", "0 0 13 * 5", "0 0 1 * *",
		"0 0 */2 */2 *", "* 1,3,5 * 1-11 0-5", "0-58 0-22 1-30 * *", "1-59 1-23 2-31 2-12 1-6",
	} {
		c := mustParse(t, bench, "")
		seen := map[string]set{c.Describe(): 0}
		for i, s := range []*set{&c.minutes, &c.hours, &c.days, &c.months, &c.weekdays} {
			fields := []*field{&minuteField, &hourField, &dayField, &monthField, &weekdayField}
			for n := fields[i].low; n <= fields[i].high; n++ {
				if *s ^= 1 << uint(n); *s != 0 {
					if _, taken := seen[c.Describe()]; taken {
						t.Errorf("%q with %s %d changed is still %q", bench, fields[i].name, n, c.Describe())
					}
					seen[c.Describe()] = *s
				}
				*s ^= 1 << uint(n)
			}
		}
	}
}

func drawCron(t *rapid.T, label string) Cron {
	c := Cron{loc: time.UTC}
	c.minutes = drawSet(t, label+" minutes", 0, 59)
	c.hours = drawSet(t, label+" hours", 0, 23)
	c.days = drawSet(t, label+" days", 1, 31)
	c.months = drawSet(t, label+" months", 1, 12)
	c.weekdays = drawSet(t, label+" weekdays", 0, 6)
	if rapid.Bool().Draw(t, label+" zoned") {
		c.loc, _ = LoadZone(rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York"}).Draw(t, label+" zone"))
	}
	c.week = repeatWeek(c.weekdays)
	return c
}

func drawSet(t *rapid.T, label string, low, high int) set {
	from, to := rapid.IntRange(low, high).Draw(t, label+" from"), rapid.IntRange(low, high).Draw(t, label+" to")
	switch rapid.IntRange(0, 3).Draw(t, label+" kind") {
	case 0:
		return span(low, high, 1)
	case 1:
		return span(min(from, to), max(from, to), rapid.IntRange(1, 12).Draw(t, label+" step"))
	case 2:
		return 1 << uint(from)
	}
	return 1<<uint(from) | set(rapid.Uint64().Draw(t, label))&span(low, high, 1)
}

// flip changes one value of one field, keeping every field filled.
func flip(t *rapid.T, c *Cron) {
	fields := []*field{&minuteField, &hourField, &dayField, &monthField, &weekdayField}
	i := rapid.IntRange(0, 4).Draw(t, "field")
	s := []*set{&c.minutes, &c.hours, &c.days, &c.months, &c.weekdays}[i]
	bit := set(1) << uint(rapid.IntRange(fields[i].low, fields[i].high).Draw(t, "value"))
	if *s != bit {
		*s ^= bit
	}
	c.week = repeatWeek(c.weekdays)
}
