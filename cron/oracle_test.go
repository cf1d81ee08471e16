package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// oracle implements the rules for clock changes literally. It goes through real time minute by minute and fires if the
// local time matches; if the hours are restricted, it fires only if the same local minute did not occur before. It shares
// no code with Next: it has its own sets and takes the local time from the time package.
type oracle struct {
	minutes, hours, days, months, weekdays []int
}

func (o oracle) text() string {
	return strings.Join([]string{
		commas(o.minutes), commas(o.hours), commas(o.days), commas(o.months), commas(o.weekdays),
	}, " ")
}

func commas(values []int) string {
	var words []string
	for _, v := range values {
		words = append(words, strconv.Itoa(v))
	}
	return strings.Join(words, ",")
}

func (o oracle) fires(w wallClock) []time.Time {
	var fires []time.Time
	for _, shown := range w.minutes {
		if o.matches(shown) && (len(o.hours) == 24 || !shown.shownBefore) {
			fires = append(fires, shown.at)
		}
	}
	return fires
}

func (o oracle) matches(w wallClockMinute) bool {
	if !slices.Contains(o.minutes, w.minute) || !slices.Contains(o.hours, w.hour) || !slices.Contains(o.months, w.month) {
		return false
	}
	day, weekday := slices.Contains(o.days, w.day), slices.Contains(o.weekdays, w.weekday)
	if len(o.days) < 31 && len(o.weekdays) < 7 {
		return day || weekday
	}
	return day && weekday
}

// wallClock holds the local times of a zone, for each minute of real time in (from, to].
type wallClock struct {
	loc      *time.Location
	from, to time.Time
	minutes  []wallClockMinute
}

type wallClockMinute struct {
	at                                time.Time
	minute, hour, day, month, weekday int
	shownBefore                       bool // the same local time occurred before
}

// readWallClock begins two days before from, to know which local times occurred before.
func readWallClock(loc *time.Location, from, to time.Time) wallClock {
	w := wallClock{loc: loc, from: from, to: to}
	before := map[string]bool{}
	for at := from.Add(-48 * time.Hour); !at.After(to); at = at.Add(time.Minute) {
		local := at.In(loc)
		key := local.Format("2006-01-02 15:04")
		if at.After(from) {
			w.minutes = append(w.minutes, wallClockMinute{
				at: local, shownBefore: before[key],
				minute: local.Minute(), hour: local.Hour(), day: local.Day(), month: int(local.Month()), weekday: int(local.Weekday()),
			})
		}
		before[key] = true
	}
	return w
}

func readWallClockAround(t testing.TB, zone, day string) wallClock {
	loc, err := LoadZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	at := instant(t, day)
	return readWallClock(loc, at.Add(-36*time.Hour), at.Add(60*time.Hour))
}

type clockChange struct{ zone, around, kind string }

// clockChanges has at least one day with each kind of clock change in the zone database.
var clockChanges = []clockChange{
	{"America/New_York", "2026-03-08", "forward at 02:00"},
	{"America/New_York", "2026-11-01", "back at 02:00"},
	{"Europe/Berlin", "2026-03-29", "forward at 02:00"},
	{"Europe/Berlin", "2026-10-25", "back at 03:00"},
	{"Europe/Berlin", "2044-10-30", "back at 03:00, beyond the table of transitions"},
	{"America/Sao_Paulo", "2018-11-04", "forward at midnight, which is missing"},
	{"America/Sao_Paulo", "2018-02-18", "back at midnight, to the day before"},
	{"America/Santiago", "2026-09-06", "forward at midnight"},
	{"America/Santiago", "2026-04-05", "back at midnight"},
	{"Australia/Lord_Howe", "2026-10-04", "forward by 30 minutes"},
	{"Australia/Lord_Howe", "2026-04-05", "back by 30 minutes"},
	{"Australia/Sydney", "2026-10-04", "forward, southern"},
	{"Australia/Sydney", "2026-04-05", "back, southern"},
	{"Asia/Tehran", "2021-03-22", "forward at midnight"},
	{"Asia/Tehran", "2022-09-22", "back at midnight"},
	{"Pacific/Apia", "2011-12-30", "a whole day missing"},
	{"Pacific/Kwajalein", "1993-08-21", "a whole day missing"},
	{"Europe/Lisbon", "1992-09-27", "a change of zone that cancels the seasonal change"},
	{"Asia/Pyongyang", "2018-05-05", "forward by 30 minutes at 23:30"},
	{"America/Caracas", "2007-12-09", "back by 30 minutes at 03:00"},
	{"Africa/Casablanca", "2026-02-15", "back for Ramadan"},
	{"Antarctica/Troll", "2026-03-29", "forward by two hours"},
	{"Antarctica/Casey", "2010-03-05", "back by three hours"},
	{"America/Godthab", "2024-03-31", "forward at 22:00 the evening before"},
	{"Asia/Kathmandu", "2026-01-01", "no change, an offset of 45 minutes"},
	{"UTC", "2028-02-29", "no change, a leap day"},
	{"Europe/Berlin", "2028-12-31", "the last day of a leap year"},
	{"America/New_York", "2096-12-31", "the last day of a leap year beyond the table"},
}

func TestNextAndPrevAgreeWithTheOracle(t *testing.T) {
	for _, change := range clockChanges {
		t.Run(change.zone+" "+change.around, func(t *testing.T) {
			w := readWallClockAround(t, change.zone, change.around)
			rapid.Check(t, func(t *rapid.T) { checkAgainstOracle(t, drawOracle(t, w), w) })
		})
	}
}

// TestCommonExpressionsAgreeWithTheOracle checks common expressions at every clock change; random ones may miss it.
func TestCommonExpressionsAgreeWithTheOracle(t *testing.T) {
	for _, change := range clockChanges {
		w := readWallClockAround(t, change.zone, change.around)
		for _, minutes := range [][]int{{0}, {30}, {0, 15, 30, 45}, values(0, 59)} {
			for _, hours := range [][]int{{0}, {1}, {2}, {3}, {23}, {0, 12}, {1, 2, 3}, values(0, 22), values(0, 23)} {
				checkAgainstOracle(t, oracle{minutes, hours, values(1, 31), values(1, 12), values(0, 6)}, w)
			}
		}
	}
}

func values(low, high int) []int {
	var all []int
	for v := low; v <= high; v++ {
		all = append(all, v)
	}
	return all
}

// drawOracle prefers values near the clock change (its days and hours) and full sets.
func drawOracle(t *rapid.T, w wallClock) oracle {
	day := w.from.Add(36 * time.Hour)
	var o oracle
	o.minutes = drawValues(t, "minutes", 0, 59, []int{0, 15, 30, 45, 59})
	o.hours = drawValues(t, "hours", 0, 23, []int{0, 1, 2, 3, 22, 23})
	o.days = drawValues(t, "days", 1, 31, []int{day.Day(), day.AddDate(0, 0, 1).Day()})
	o.months = drawValues(t, "months", 1, 12, []int{int(day.Month())})
	o.weekdays = drawValues(t, "weekdays", 0, 6, []int{int(day.Weekday()), int(day.Weekday()+1) % 7})
	return o
}

func drawValues(t *rapid.T, label string, low, high int, likely []int) []int {
	switch rapid.IntRange(0, 3).Draw(t, label+" kind") {
	case 0:
		return values(low, high)
	case 1:
		return likely[:rapid.IntRange(1, len(likely)).Draw(t, label+" likely")]
	case 2:
		return values(rapid.IntRange(low, high).Draw(t, label+" from"), high)
	}
	drawn := rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, 8, rapid.ID).Draw(t, label)
	slices.Sort(drawn)
	return drawn
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkAgainstOracle(t failer, o oracle, w wallClock) {
	t.Helper()
	c, err := Parse(o.text(), Config{})
	if refused, ok := err.(*Error); ok && strings.Contains(refused.Reason, "never fires") {
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", o.text(), err)
	}
	c.loc = w.loc
	want := o.fires(w)
	forward, _ := Between(c, w.from, w.to, len(want)+10)
	backward, _ := Latest(c, w.from, w.to, len(want)+10)
	if diff := firstDifference(want, forward); diff != "" {
		t.Fatalf("%s in %s: Next: %s", o.text(), w.loc, diff)
	}
	if diff := firstDifference(want, backward); diff != "" {
		t.Fatalf("%s in %s: Prev: %s", o.text(), w.loc, diff)
	}
}

func firstDifference(want, got []time.Time) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			return fmt.Sprintf("fires at %v, which the oracle does not", got[i])
		case i >= len(got):
			return fmt.Sprintf("does not fire at %v", want[i])
		case !want[i].Equal(got[i]):
			return fmt.Sprintf("fires at %v, want %v", got[i], want[i])
		}
	}
	return ""
}
