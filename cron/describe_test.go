package cron

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDescribe(t *testing.T) {
	for _, row := range []struct{ text, zone, want string }{
		// Every hour.
		{"* * * * *", "UTC", "every minute, UTC"},
		{"*/1 * * * *", "UTC", "every minute, UTC"},
		{"*/2 * * * *", "UTC", "every 2 minutes, UTC"},
		{"*/5 * * * *", "UTC", "every 5 minutes, UTC"},
		{"*/5 * * * *", "Europe/Berlin", "every 5 minutes, Berlin time"},
		{"*/15 * * * *", "Asia/Kathmandu", "every 15 minutes, Kathmandu time"},
		{"*/30 * * * *", "UTC", "every 30 minutes, UTC"},
		{"0,30 * * * *", "UTC", "every 30 minutes, UTC"},
		{"0 * * * *", "UTC", "every hour on the hour, UTC"},
		{"*/60 * * * *", "UTC", "every hour on the hour, UTC"},
		{"@hourly", "UTC", "every hour on the hour, UTC"},
		{"30 * * * *", "UTC", "at minute 30 of every hour, UTC"},
		{"5,35 * * * *", "UTC", "at minutes 5 and 35 of every hour, UTC"},
		{"5/15 * * * *", "UTC", "at minutes 5, 20, 35 and 50 of every hour, UTC"},
		{"*/7 * * * *", "UTC", "at minutes 0, 7, 14, … 56 of every hour, UTC"},
		{"*/9 * * * *", "UTC", "at minutes 0, 9, 18, … 54 of every hour, UTC"},
		{"*/25 * * * *", "UTC", "at minutes 0, 25 and 50 of every hour, UTC"},
		{"1/2 * * * *", "UTC", "at minutes 1, 3, 5, … 59 of every hour, UTC"},
		{"10-20 * * * *", "UTC", "at minutes 10 to 20 of every hour, UTC"},
		{"0,10-20,59 * * * *", "UTC", "at minutes 0, 10 to 20 and 59 of every hour, UTC"},
		// Some hours.
		{"0 0 * * *", "UTC", "every day at 00:00, UTC"},
		{"@daily", "America/New_York", "every day at 00:00, New York time"},
		{"30 9 * * *", "Europe/Berlin", "every day at 09:30, Berlin time"},
		{"0 9,17 * * *", "UTC", "every day at 09:00 and 17:00, UTC"},
		{"0,30 9,17 * * *", "UTC", "every day at 09:00, 09:30, 17:00 and 17:30, UTC"},
		{"*/15 2 * * *", "UTC", "every 15 minutes from 02:00 to 02:45 every day, UTC"},
		{"0 */4 * * *", "UTC", "every day at 00:00, 04:00, 08:00, 12:00, 16:00 and 20:00, UTC"},
		{"0 */2 * * *", "UTC", "every day at 00:00, 02:00, 04:00, … 22:00, UTC"},
		{"15 1/2 * * *", "UTC", "every day at 01:15, 03:15, 05:15, … 23:15, UTC"},
		{"0 9-17 * * *", "UTC", "every hour from 09:00 to 17:00 every day, UTC"},
		{"30 9-17 * * *", "UTC", "every hour from 09:30 to 17:30 every day, UTC"},
		{"* 9 * * *", "UTC", "every minute from 09:00 to 09:59 every day, UTC"},
		{"* 9-17 * * *", "UTC", "every minute from 09:00 to 17:59 every day, UTC"},
		{"*/15 9-17 * * *", "UTC", "every 15 minutes from 09:00 to 17:45 every day, UTC"},
		{"*/7 9-17 * * *", "UTC", "at minutes 0, 7, 14, … 56 of hours 9 to 17 every day, UTC"},
		{"*/7 9 * * *", "UTC", "at minutes 0, 7, 14, … 56 of hour 9 every day, UTC"},
		{"*/30 */2 * * *", "UTC", "every 30 minutes of hours 0, 2, 4, … 22 every day, UTC"},
		{"* 1,3,5 * * *", "UTC", "every minute of hours 1, 3 and 5 every day, UTC"},
		{"0 0-9,12,18-23 * * *", "UTC", "at minute 0 of hours 0 to 9, 12 and 18 to 23 every day, UTC"},
		{"*/5 9-17 * * *", "UTC", "every 5 minutes from 09:00 to 17:55 every day, UTC"},
		{"0,15,30,45 9 * * *", "UTC", "every 15 minutes from 09:00 to 09:45 every day, UTC"},
		{"0,15,30,45 9,10 * * *", "UTC", "every 15 minutes from 09:00 to 10:45 every day, UTC"},
		{"15,45 9-17 * * *", "UTC", "every 30 minutes from 09:15 to 17:45 every day, UTC"},
		{"*/15 0-5,20-23 * * *", "UTC", "every 15 minutes of hours 0 to 5 and 20 to 23 every day, UTC"},
		// Days of the week.
		{"0 9 * * 1", "UTC", "every Monday at 09:00, UTC"},
		{"0 9 * * 0-4", "UTC", "every Sunday to Thursday at 09:00, UTC"},
		{"0 9 * * SUN-MON", "UTC", "every Sunday and Monday at 09:00, UTC"},
		{"0 9 * * SAT,SUN,MON,WED", "UTC", "every Wednesday and Saturday to Monday at 09:00, UTC"},
		{"* * * * 1-3", "UTC", "every minute on Mondays to Wednesdays, UTC"},
		{"*/15 * * * 6,0", "UTC", "every 15 minutes on Saturdays and Sundays, UTC"},
		{"30 9 * * 1-5", "Europe/Berlin", "every weekday at 09:30, Berlin time"},
		{"30 9 * * MON,TUE,WED,THU,FRI", "UTC", "every weekday at 09:30, UTC"},
		{"0 9,17 * * 1,4", "America/New_York", "every Monday and Thursday at 09:00 and 17:00, New York time"},
		{"0 0 * * 0", "UTC", "every Sunday at 00:00, UTC"},
		{"@weekly", "UTC", "every Sunday at 00:00, UTC"},
		{"0 0 * * 6,0", "UTC", "every Saturday and Sunday at 00:00, UTC"},
		{"0 0 * * FRI-SUN", "UTC", "every Friday to Sunday at 00:00, UTC"},
		{"0 0 * * 1-4", "UTC", "every Monday to Thursday at 00:00, UTC"},
		{"0 0 * * */2", "UTC", "every Tuesday, Thursday, Saturday and Sunday at 00:00, UTC"},
		{"*/5 * * * 1-5", "UTC", "every 5 minutes on weekdays, UTC"},
		{"*/5 9-17 * * 1-5", "Asia/Tokyo", "every 5 minutes from 09:00 to 17:55 on weekdays, Tokyo time"},
		{"0 * * * 6", "UTC", "every hour on the hour on Saturdays, UTC"},
		// Days of the month, months.
		{"0 0 1 * *", "UTC", "at 00:00 on day 1 of every month, UTC"},
		{"@monthly", "Europe/Berlin", "at 00:00 on day 1 of every month, Berlin time"},
		{"0 0 1,15 * *", "UTC", "at 00:00 on days 1 and 15 of every month, UTC"},
		{"0 0 28-31 * *", "UTC", "at 00:00 on days 28 to 31 of every month (29 to 31 in months that have them), UTC"},
		{"0 0 */2 * *", "UTC", "at 00:00 on days 1, 3, 5, … 31 of every month (29 and 31 in months that have them), UTC"},
		{"@yearly", "UTC", "every year on 1 January at 00:00, UTC"},
		{"0 0 29 2 *", "UTC", "every leap year on 29 February at 00:00, UTC"},
		{"0 0 1 1,4,7,10 *", "UTC", "at 00:00 on day 1 of January, April, July and October every year, UTC"},
		{"0 0 1 */3 *", "UTC", "at 00:00 on day 1 of January, April, July and October every year, UTC"},
		{"0 9 * 6-8 *", "UTC", "every day from June to August at 09:00, UTC"},
		{"*/5 * * 12 *", "UTC", "every 5 minutes in December, UTC"},
		{"0 9 * 12 1-5", "UTC", "every weekday in December at 09:00, UTC"},
		{"0 9 * 12 1", "UTC", "every Monday in December at 09:00, UTC"},
		{"59 23 31 12 *", "UTC", "every year on 31 December at 23:59, UTC"},
		{"* * 1 1 *", "UTC", "every minute on 1 January every year, UTC"},
		{"0 0 1,15 1 *", "UTC", "at 00:00 on days 1 and 15 of January every year, UTC"},
		{"0 0 1 6-8 *", "UTC", "at 00:00 on day 1 of every month from June to August, UTC"},
		{"0 0 * 1-3 *", "UTC", "every day from January to March at 00:00, UTC"},
		{"0 0 * 11,12,1,2 *", "UTC", "every day from November to February at 00:00, UTC"},
		{"0 0 * 1,2,12 1-3", "UTC", "every Monday to Wednesday from December to February at 00:00, UTC"},
		{"0 0 * 1,3-5 *", "UTC", "every day in January, March, April and May at 00:00, UTC"},
		{"* * * 1 1", "UTC", "every minute on Mondays in January, UTC"},
		// Days that not every month has.
		{"0 0 31 * *", "UTC", "at 00:00 on day 31 of every month that has it, UTC"},
		{"0 0 30 * *", "UTC", "at 00:00 on day 30 of every month that has it, UTC"},
		{"0 0 29 * *", "UTC", "at 00:00 on day 29 of every month (29 February in leap years), UTC"},
		{"0 0 29-31 * *", "UTC", "at 00:00 on days 29 to 31 of every month (in months that have them), UTC"},
		{"0 0 1-15,31 * *", "UTC", "at 00:00 on days 1 to 15 and 31 of every month (31 in months that have it), UTC"},
		{"0 0 31 */2 *", "UTC", "at 00:00 on day 31 of January, March, May and July every year, UTC"},
		{"0 0 31 1,3,5,7-8,10,12 *", "UTC", "at 00:00 on day 31 of every month that has it, UTC"},
		{"0 0 30,31 4,6 *", "UTC", "at 00:00 on day 30 of April and June every year, UTC"},
		{"0 0 28-31 2 *", "UTC", "at 00:00 on days 28 and 29 of February (29 February in leap years) every year, UTC"},
		{"0 0 29-31 2 *", "UTC", "every leap year on 29 February at 00:00, UTC"},
		{"*/5 * 29 2 *", "UTC", "every 5 minutes on 29 February every leap year, UTC"},
		{"0 0 1-30 4 *", "UTC", "every day in April at 00:00, UTC"},
		{"0 0 31 2 1", "UTC", "every Monday in February at 00:00, UTC"},
		{"0 0 31 1,2 1", "UTC", "at 00:00 on day 31 of January, or on any Monday in January and February, UTC"},
		{"0 0 1-29 2 1", "UTC", "every day in February at 00:00, UTC"},
		// Both kinds of days are joined by OR.
		{"0 0 13 * 1-3", "UTC", "at 00:00 on day 13 of every month, or on any Monday to Wednesday, UTC"},
		{"0 0 13 * 6,0", "UTC", "at 00:00 on day 13 of every month, or on any Saturday or Sunday, UTC"},
		{"* * 31 * 5", "UTC", "every minute on day 31 of every month that has it, or on any Friday, UTC"},
		{"0 0 13 * 5", "UTC", "at 00:00 on day 13 of every month, or on any Friday, UTC"},
		{"0 0 13 * 1-5", "UTC", "at 00:00 on day 13 of every month, or on any weekday, UTC"},
		{"0 0 1,15 1 1,4", "UTC", "at 00:00 on days 1 and 15 of January, or on any Monday or Thursday in January, UTC"},
		// Zones.
		{"0 0 * * *", "America/Argentina/Buenos_Aires", "every day at 00:00, Buenos Aires time"},
		{"0 0 * * *", "US/Eastern", "every day at 00:00, US/Eastern time"},
		{"0 0 * * *", "Etc/GMT-5", "every day at 00:00, UTC+5"},
		{"0 0 * * *", "Etc/UTC", "every day at 00:00, UTC"},
		{"0 0 * * *", "Zulu", "every day at 00:00, UTC"},
		{"0 0 * * *", "Etc/GMT", "every day at 00:00, GMT"},
		{"0 0 * * *", "CET", "every day at 00:00, CET"},
		{"0 0 * * *", "Japan", "every day at 00:00, Japan time"},
		// The description shows the values that H takes.
		{"H H * * *", "UTC", "every day at 09:57, UTC"},
	} {
		if got := mustParse(t, row.text, row.zone).Describe(); got != row.want {
			t.Errorf("%q in %s:\n got %s\nwant %s", row.text, row.zone, got, row.want)
		}
	}
}

// TestDescribeDiffersExactlyWhenFiresDiffer compares expressions that differ in one value, and unrelated ones.
// Expressions with the same fires must also have the same description: 31 */2 is 31 1,3,5,7.
func TestDescribeDiffersExactlyWhenFiresDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCron(t, "a"), drawCron(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = a
			changeOneValue(t, &b)
		}
		if !firesOnSomeDay(a) || !firesOnSomeDay(b) {
			return // Parse refuses them
		}
		if sameFires(a, b) != (a.Describe() == b.Describe()) {
			t.Fatalf("%+v is %q, %+v is %q", a, a.Describe(), b, b.Describe())
		}
	})
}

// sameFires compares the days of two expressions in every kind of month (length and first weekday), not their sets.
func sameFires(a, b Cron) bool {
	if a.minutes != b.minutes || a.hours != b.hours || a.loc != b.loc {
		return false
	}
	return everyMonth(func(year, month, weekday int) bool {
		return a.firesOn(year, month, weekday) == b.firesOn(year, month, weekday)
	})
}

func firesOnSomeDay(c Cron) bool {
	return !everyMonth(func(year, month, weekday int) bool { return c.firesOn(year, month, weekday) == 0 })
}

func (c *Cron) firesOn(year, month, weekday int) set {
	if !c.months.has(month) {
		return 0
	}
	return c.daysOf(year, month, weekday)
}

func everyMonth(holds func(year, month, firstWeekday int) bool) bool {
	for _, year := range []int{2027, 2028} {
		for month := 1; month <= 12; month++ {
			for firstWeekday := range 7 {
				if !holds(year, month, firstWeekday) {
					return false
				}
			}
		}
	}
	return true
}

// TestDescribeChangesWithEverySingleValue adds or removes each single value of common expressions.
func TestDescribeChangesWithEverySingleValue(t *testing.T) {
	for _, bench := range []string{
		"*/5 * * * *", "*/7 * * * *", "0 */2 * * *", "*/15 9-17 * * *", "30 9 * * 1-5", "0 0 13 * 5", "0 0 1 * *",
		"0 0 */2 */2 *", "* 1,3,5 * 1-11 0-5", "0-58 0-22 1-30 * *", "1-59 1-23 2-31 2-12 1-6", "0 0 29-31 2-4 *",
		"0 0 28-31 2 *", "*/20 9 * * *", "0 9-11 29 2,3 6,0",
	} {
		c := mustParse(t, bench, "")
		seen := map[string]Cron{c.Describe(): c}
		for i, s := range []*set{&c.minutes, &c.hours, &c.days, &c.months, &c.weekdays} {
			f := []*field{&minuteField, &hourField, &dayField, &monthField, &weekdayField}[i]
			for n := f.low; n <= f.high; n++ {
				*s ^= 1 << uint(n)
				c.week = repeatWeek(c.weekdays)
				if *s != 0 && firesOnSomeDay(c) {
					if other, taken := seen[c.Describe()]; taken && !sameFires(c, other) {
						t.Errorf("%q with %s %d changed is still %q", bench, f.name, n, c.Describe())
					}
					seen[c.Describe()] = c
				}
				*s ^= 1 << uint(n)
				c.week = repeatWeek(c.weekdays)
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

// changeOneValue adds or removes one value of one field, and never empties a field.
func changeOneValue(t *rapid.T, c *Cron) {
	fields := []*field{&minuteField, &hourField, &dayField, &monthField, &weekdayField}
	i := rapid.IntRange(0, 4).Draw(t, "field")
	s := []*set{&c.minutes, &c.hours, &c.days, &c.months, &c.weekdays}[i]
	bit := set(1) << uint(rapid.IntRange(fields[i].low, fields[i].high).Draw(t, "value"))
	if *s != bit {
		*s ^= bit
	}
	c.week = repeatWeek(c.weekdays)
}
