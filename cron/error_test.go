package cron

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseRefusesInvalidExpression(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		// Values.
		{"61 * * * *", `minute: "61" is out of range; allowed 0-59`},
		{"60 * * * *", `minute: "60" is out of range; allowed 0-59`},
		{"* 24 * * *", `hour: "24" is out of range; allowed 0-23`},
		{"* * 0 * *", `day-of-month: "0" is out of range; allowed 1-31`},
		{"* * 32 * *", `day-of-month: "32" is out of range; allowed 1-31`},
		{"* * * 13 *", `month: "13" is out of range; allowed 1-12 or JAN-DEC`},
		{"* * * * 8", `day-of-week: "8" is out of range; allowed 0-7 or SUN-SAT`},
		{"99999999999999999999 * * * *", `minute: "99999999999999999999" is out of range; allowed 0-59`},
		{"x * * * *", `minute: "x" is not a value; allowed 0-59`},
		{"1.5 * * * *", `minute: "1.5" is not a value; allowed 0-59`},
		{"+5 * * * *", `minute: "+5" is not a value; allowed 0-59`},
		{"* * * MONDAY *", `month: "MONDAY" is not a value; allowed 1-12 or JAN-DEC`},
		{"* * * * monday", `day-of-week: "monday" is not a value; allowed 0-7 or SUN-SAT; write MON`},
		{"* * * September *", `month: "September" is not a value; allowed 1-12 or JAN-DEC; write SEP`},
		{"** * * * *", `minute: "**" is not a value; allowed 0-59`},
		// Lists, ranges, steps.
		{"1,,2 * * * *", `minute: "1,,2" has an empty list item; allowed 0-59; put a value on each side of every comma`},
		{"1, * * * *", `minute: "1," has an empty list item; allowed 0-59; put a value on each side of every comma`},
		{", * * * *", `minute: "," has an empty list item; allowed 0-59; put a value on each side of every comma`},
		{"1--2 * * * *", `minute: "1--2" is not a range; allowed a-b within 0-59`},
		{"1-2-3 * * * *", `minute: "1-2-3" is not a range; allowed a-b within 0-59`},
		{"-5 * * * *", `minute: "-5" is negative; allowed 0-59`},
		{"5- * * * *", `minute: "5-" is not a range; allowed a-b within 0-59`},
		{"*-5 * * * *", `minute: "*-5" is not a range; allowed a-b within 0-59; write 0-5`},
		{"0 22-2 * * *", `hour: "22-2" runs backwards; allowed 0-23, low to high; write 22-23,0-2`},
		{"50-10 * * * *", `minute: "50-10" runs backwards; allowed 0-59, low to high; write 50-59,0-10`},
		{"0 0 * NOV-FEB *", `month: "NOV-FEB" runs backwards; allowed 1-12 or JAN-DEC, low to high; write NOV-DEC,JAN-FEB`},
		{"0 0 * * SAT-MON", `day-of-week: "SAT-MON" runs backwards; allowed 0-7 or SUN-SAT, low to high; write SAT-SUN,MON`},
		{"0 0 * * 5-0", `day-of-week: "5-0" runs backwards; allowed 0-7 or SUN-SAT, low to high; write 5-7`},
		{"0 0 * * 7-2", `day-of-week: "7-2" runs backwards; allowed 0-7 or SUN-SAT, low to high; write 0-2`},
		{"*/0 * * * *", `minute: "*/0" has a step of 0; allowed steps 1-60`},
		{"*/61 * * * *", `minute: "*/61" has a step larger than the field; allowed steps 1-60; for an interval that crosses hours or days use EVERY`},
		{"0 */25 * * *", `hour: "*/25" has a step larger than the field; allowed steps 1-24; for an interval that crosses hours or days use EVERY`},
		{"0 0 * * */8", `day-of-week: "*/8" has a step larger than the field; allowed steps 1-7; for an interval that crosses hours or days use EVERY`},
		{"*/ * * * *", `minute: "*/" has no number after the slash; allowed steps 1-60`},
		{"*/x * * * *", `minute: "*/x" has no number after the slash; allowed steps 1-60`},
		{"*/-5 * * * *", `minute: "*/-5" has no number after the slash; allowed steps 1-60`},
		{"*/5/5 * * * *", `minute: "*/5/5" has no number after the slash; allowed steps 1-60`},
		{"/5 * * * *", `minute: "/5" has nothing before the slash; allowed 0-59; write */5`},
		{"0 0 * * 7/2", `day-of-week: "7/2" starts its steps at the end of the week; allowed 0-6 before a step; write 0/2`},
		{"-1 * * * *", `minute: "-1" is negative; allowed 0-59`},
		{"- * * * *", `minute: "-" is not a value; allowed 0-59`},
		{"-5,10 * * * *", `minute: "-5" is negative; allowed 0-59`},
		{"-n5 * * * *", `minute: "-n5" is not a value; allowed 0-59`},
		{"-1-5 * * * *", `minute: "-1-5" is not a range; allowed a-b within 0-59`},
		{"0 0 * * -1", `day-of-week: "-1" is negative; allowed 0-7 or SUN-SAT`},
		{"5-* * * * *", `minute: "5-*" is not a range; allowed a-b within 0-59; write 5-59`},
		{"5-99 * * * *", `minute: "5-99" is out of range; allowed 0-59`},
		{"[1-5] * * * *", `minute: "[1-5]" is not a value; allowed 0-59; write lists and ranges without brackets, such as 1,3-5`},
		{"0 0 * * FRI-MON", `day-of-week: "FRI-MON" runs backwards; allowed 0-7 or SUN-SAT, low to high; write FRI-SUN,MON`},
		{"0 0 * * FRI-MON/2", `day-of-week: "FRI-MON/2" runs backwards; allowed 0-7 or SUN-SAT, low to high; write FRI,SUN`},
		{"0 0 * nov-feb *", `month: "nov-feb" runs backwards; allowed 1-12 or JAN-DEC, low to high; write NOV-DEC,JAN-FEB`},
		{"0 0 * MAY-JUNE *", `month: "MAY-JUNE" is not a value; allowed 1-12 or JAN-DEC; write MAY-JUN`},
		{"50-10/5 * * * *", `minute: "50-10/5" runs backwards; allowed 0-59, low to high; write 50,55,0,5,10`},
		{"5-5/61 * * * *", `minute: "5-5/61" has a step larger than the field; allowed steps 1-60; for an interval that crosses hours or days use EVERY`},
		{"H/61 * * * *", `minute: "H/61" has a step larger than the field; allowed steps 1-60; for an interval that crosses hours or days use EVERY`},
		// H.
		{"H(0-29 * * * *", `minute: "H(0-29" is not a valid form of H; allowed H, H/n, H(a-b), H(a-b)/n within 0-59`},
		{"H(5) * * * *", `minute: "H(5)" is not a valid form of H; allowed H, H/n, H(a-b), H(a-b)/n within 0-59`},
		{"Hello * * * *", `minute: "Hello" is not a valid form of H; allowed H, H/n, H(a-b), H(a-b)/n within 0-59`},
		{"H(29-0) * * * *", `minute: "H(29-0)" runs backwards; allowed 0-59, low to high; H takes values from one range: write H(29-59) or 0`},
		{"H(0-99) * * * *", `minute: "H(0-99)" is out of range; allowed 0-59`},
		// Syntax of other cron implementations.
		{"0 0 ? * *", `day-of-month: "?" is not supported; allowed 1-31; write * for any value`},
		{"0 0 L * *", `day-of-month: "L" is not supported: there is no syntax for the last day of a month; allowed 1-31; write 28-31 and let the job check the date, or run on day 1 for the month before`},
		{"0 0 L-3 * *", `day-of-month: "L-3" is not supported: there is no syntax for the last day of a month; allowed 1-31; write 25-28 and let the job check the date`},
		{"0 0 * * 5L", `day-of-week: "5L" is not supported: there is no syntax for the last weekday of a month; allowed 0-7 or SUN-SAT; write 5 and let the job check that it is the last Friday of the month`},
		{"0 0 15W * *", `day-of-month: "15W" is not supported: there is no syntax for the nearest weekday; allowed 1-31; write 14-16 and let the job check that it is the weekday nearest to day 15`},
		{"0 0 * * 5#2", `day-of-week: "5#2" is not supported: there is no syntax for the n-th weekday of a month; allowed 0-7 or SUN-SAT; write 5 and let the job check that the day of the month is 8-14`},
		{"0 0 * * L", `day-of-week: "L" is not supported: there is no syntax for the last day of a week; allowed 0-7 or SUN-SAT; name the weekday, such as SAT`},
		{"0 0 * * FRIL", `day-of-week: "FRIL" is not supported: there is no syntax for the last weekday of a month; allowed 0-7 or SUN-SAT; write FRI and let the job check that it is the last Friday of the month`},
		{"0 0 LW * *", `day-of-month: "LW" is not supported: there is no syntax for the last weekday of a month; allowed 1-31; write 26-31 and let the job check that it is the last weekday of the month`},
		{"0 0 W * *", `day-of-month: "W" is not supported: there is no syntax for the nearest weekday; allowed 1-31; write the days it may fall on, such as 14-16, and let the job check the date`},
		{"0 0 1W * *", `day-of-month: "1W" is not supported: there is no syntax for the nearest weekday; allowed 1-31; write 1-3 and let the job check that it is the weekday nearest to day 1`},
		{"0 0 31W * *", `day-of-month: "31W" is not supported: there is no syntax for the nearest weekday; allowed 1-31; write 29-31 and let the job check that it is the weekday nearest to day 31`},
		{"0 L * * *", `hour: "L" is not a value; allowed 0-23`},
		{"0 0 * * MON#5", `day-of-week: "MON#5" is not supported: there is no syntax for the n-th weekday of a month; allowed 0-7 or SUN-SAT; write MON and let the job check that the day of the month is 29-31`},
		{"0 0 * * ?", `day-of-week: "?" is not supported; allowed 0-7 or SUN-SAT; write * for any value`},
		{"@every\t1h", `expression: "@every 1h" is an interval, not a cron expression; allowed @hourly @daily @midnight @weekly @monthly @yearly @annually; write an interval, every 1h, instead of a cron expression`},
		{"@daily root", `expression: "@daily root" has text after the name; allowed @hourly @daily @midnight @weekly @monthly @yearly @annually; give only @daily, without user or command`},
		{"TZ=UTC\t0 0 * * *", `expression: "TZ=UTC" is not part of an expression; allowed 5 fields: minute hour day-of-month month day-of-week; set the zone with its own option (TIME ZONE, timezone, --tz)`},
		{"0 0 * * * root", `expression: "0 0 * * * root" has more than five fields; allowed 5 fields: minute hour day-of-month month day-of-week; give only the five time fields, without user or command`},
		{"0 0 * * * root /usr/bin/backup -q", `expression: "0 0 * * * root /usr/bin/backup -q" has more than five fields; allowed 5 fields: minute hour day-of-month month day-of-week; give only the five time fields, without user or command`},
		{"0 0 * * * # at night", `expression: "0 0 * * * # at night" has more than five fields; allowed 5 fields: minute hour day-of-month month day-of-week; give only the five time fields, without user or command`},
		{"# at night", `expression: "# at night" is a comment; allowed 5 fields: minute hour day-of-month month day-of-week; give only the five time fields, without user or command`},
		{"@every 5m", `expression: "@every 5m" is an interval, not a cron expression; allowed @hourly @daily @midnight @weekly @monthly @yearly @annually; write an interval, every 5m, instead of a cron expression`},
		{"@reboot", `expression: "@reboot" is not supported: a schedule is not bound to one machine; allowed @hourly @daily @midnight @weekly @monthly @yearly @annually; enqueue the job from a boot script, such as a systemd unit`},
		{"@fortnightly", `expression: "@fortnightly" is not known; allowed @hourly @daily @midnight @weekly @monthly @yearly @annually`},
		{"TZ=UTC 0 0 * * *", `expression: "TZ=UTC" is not part of an expression; allowed 5 fields: minute hour day-of-month month day-of-week; set the zone with its own option (TIME ZONE, timezone, --tz)`},
		{"CRON_TZ=UTC 0 0 * * *", `expression: "CRON_TZ=UTC" is not part of an expression; allowed 5 fields: minute hour day-of-month month day-of-week; set the zone with its own option (TIME ZONE, timezone, --tz)`},
		// The whole expression.
		{"", `expression: "" is empty; allowed 5 fields: minute hour day-of-month month day-of-week`},
		{"  \t ", `expression: "" is empty; allowed 5 fields: minute hour day-of-month month day-of-week`},
		{"5", `expression: "5" has 1 field; allowed 5 fields: minute hour day-of-month month day-of-week; write * for a field that does not matter`},
		{"* * * *", `expression: "* * * *" has 4 fields; allowed 5 fields: minute hour day-of-month month day-of-week; write * for a field that does not matter`},
		{"0 * * * * *", `expression: "0 * * * * *" has 6 fields; allowed 5 fields: minute hour day-of-month month day-of-week; seconds are not supported: leave them out, or use EVERY for intervals below a minute`},
		{"0 * * * * * 2026", `expression: "0 * * * * * 2026" has 7 fields; allowed 5 fields: minute hour day-of-month month day-of-week; seconds and years are not supported: leave them out`},
		{"0 0 * * MÖN", `expression: "0 0 * * M\u00d6N" contains the character "\u00d6"; allowed printable ASCII`},
		{"٠ * * * *", `expression: "\u0660 * * * *" contains the character "\u0660"; allowed printable ASCII`},
		{"0 0 * * *\x00", `expression: "0 0 * * *\x00" contains the character "\x00"; allowed printable ASCII`},
		{strings.Repeat("1,", 300) + "1 * * * *", `expression: "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,..." is too long; allowed up to 512 bytes`},
		// Expressions that never fire.
		{"0 0 30 2 *", `day-of-month: "30" never fires: month "2" has no such day; allowed 1-29 in this month`},
		{"0 0 31 2 *", `day-of-month: "31" never fires: month "2" has no such day; allowed 1-29 in this month`},
		{"0 0 31 4,6,9,11 *", `day-of-month: "31" never fires: months "4,6,9,11" have no such day; allowed 1-30 in these months`},
		{"0 0 31 FEB 0-7", `day-of-month: "31" never fires: month "FEB" has no such day; allowed 1-29 in this month`},
	} {
		c, err := Parse(row.text, Config{Name: "test"})
		var refusal *Error
		if !errors.As(err, &refusal) {
			t.Errorf("%q is accepted: %s", row.text, c.Describe())
			continue
		}
		if refusal.Error() != row.want {
			t.Errorf("%q:\n got %s\nwant %s", row.text, refusal, row.want)
		}
	}
}

// TestRemedyOfDescendingRangeHasTheIntendedValues parses the remedy of every descending range and compares the values.
func TestRemedyOfDescendingRangeHasTheIntendedValues(t *testing.T) {
	for _, f := range []*field{&minuteField, &hourField, &dayField, &monthField, &weekdayField} {
		for low := f.low; low <= f.high; low++ {
			for high := f.low; high < low; high++ {
				for _, step := range []int{1, 2, 5} {
					var want set
					for n := low; n <= high+f.size(); n += step {
						want |= 1 << uint(f.low+(n-f.low)%f.size())
					}
					text := fmt.Sprintf("%d-%d/%d", low, high, step)
					_, err := f.parse(text, seed{})
					remedy, ok := strings.CutPrefix(err.Remedy, "write ")
					if got, err := f.parse(remedy, seed{}); !ok || err != nil || got != want {
						t.Fatalf("%s %s: %s, %v", f.name, text, remedy, err)
					}
				}
			}
		}
	}
}

func TestParseRefusesHashWithoutName(t *testing.T) {
	_, err := Parse("H * * * *", Config{})
	want := `minute: "H" is computed from the schedule's name, and no name is given; give the name (--name NAME on the command line)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestParseRefusesInvalidZone(t *testing.T) {
	for _, row := range []struct{ zone, want string }{
		{"Local", `zone: "Local" depends on the machine; name the zone, such as Europe/Berlin`},
		{"local", `zone: "local" depends on the machine; name the zone, such as Europe/Berlin`},
		{"localtime", `zone: "localtime" depends on the machine; name the zone, such as Europe/Berlin`},
		{"europe/berlin", `zone: "europe/berlin" is not a known time zone; did you mean Europe/Berlin?`},
		{"Berlin", `zone: "Berlin" is not a known time zone; did you mean Europe/Berlin?`},
		{"new york", `zone: "new york" is not a known time zone; did you mean America/New_York?`},
		{"PST", `zone: "PST" is not a known time zone; did you mean America/Los_Angeles?`},
		{"cest", `zone: "cest" is not a known time zone; did you mean Europe/Berlin?`},
		{"utc", `zone: "utc" is not a known time zone; did you mean UTC?`},
		{"Mars/Olympus", `zone: "Mars/Olympus" is not a known time zone; use an IANA name, such as Europe/Berlin or America/New_York`},
		{"../../etc/passwd", `zone: "../../etc/passwd" is not a zone name; name the zone, such as Europe/Berlin`},
		{"/etc/localtime", `zone: "/etc/localtime" is not a zone name; name the zone, such as Europe/Berlin`},
		{"Europe//Berlin", `zone: "Europe//Berlin" is not a zone name; name the zone, such as Europe/Berlin`},
		{"Europe/Berlin/", `zone: "Europe/Berlin/" is not a zone name; name the zone, such as Europe/Berlin`},
		{"Europe/./Berlin", `zone: "Europe/./Berlin" is not a zone name; name the zone, such as Europe/Berlin`},
		{"america/port-au-prince", `zone: "america/port-au-prince" is not a known time zone; did you mean America/Port-au-Prince?`},
		{"africa/dar_es_salaam", `zone: "africa/dar_es_salaam" is not a known time zone; did you mean Africa/Dar_es_Salaam?`},
		{"dar es salaam", `zone: "dar es salaam" is not a known time zone; did you mean Africa/Dar_es_Salaam?`},
		{" Europe/Berlin ", `zone: " Europe/Berlin " is not a known time zone; did you mean Europe/Berlin?`},
		{" UTC", `zone: " UTC" is not a known time zone; did you mean UTC?`},
		{"GMT+2", `zone: "GMT+2" is not a known time zone; use an IANA name, such as Europe/Berlin or America/New_York`},
		{"right/Europe/Berlin", `zone: "right/Europe/Berlin" is not the name of a place; name the zone, such as Europe/Berlin`},
		{"Europe", `zone: "Europe" is not a known time zone; use an IANA name, such as Europe/Berlin or America/New_York`},
		{"München", `zone: "M\u00fcnchen" is not a zone name; name the zone, such as Europe/Berlin`},
		{"+02:00", `zone: "+02:00" is not a known time zone; use an IANA name, such as Europe/Berlin or America/New_York`},
	} {
		if _, err := Parse("@daily", Config{Zone: row.zone}); err == nil || err.Error() != row.want {
			t.Errorf("%q:\n got %v\nwant %s", row.zone, err, row.want)
		}
	}
}
