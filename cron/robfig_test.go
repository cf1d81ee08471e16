package cron

import (
	"fmt"
	"strings"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
	"pgregory.net/rapid"
)

// TestAgreesWithRobfig compares Next with the most used cron library for Go, in zones without clock changes and without
// the syntax that it treats differently (7 for Sunday, full ranges together with restricted days of the other kind).
func TestAgreesWithRobfig(t *testing.T) {
	for _, zone := range []string{"UTC", "Etc/GMT-5"} {
		t.Run(zone, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { compareWithRobfig(t, zone) })
		})
	}
}

func compareWithRobfig(t *rapid.T, zone string) {
	text := strings.Join([]string{
		drawField(t, &minuteField), drawField(t, &hourField), drawField(t, &dayField), drawField(t, &monthField),
		drawField(t, &weekdayField),
	}, " ")
	ours, err := Parse(text, Config{Zone: zone})
	if err != nil {
		t.Skip(err) // such as the 31st of February; other tests cover what must parse
	}
	fields := strings.Fields(text)
	if ours.days == allDays && fields[2] != "*" || ours.weekdays == allWeekdays && fields[4] != "*" {
		t.Skip("robfig treats a full range as a restriction")
	}
	theirs, err := robfig.ParseStandard("CRON_TZ=" + zone + " " + text)
	if err != nil {
		t.Fatalf("%s: robfig returns %v", text, err)
	}
	at := time.Unix(rapid.Int64Range(1_000_000_000, 4_000_000_000).Draw(t, "from"), 0).In(ours.Location())
	for range 5 {
		next, _ := ours.Next(at)
		want := theirs.Next(at)
		if want.IsZero() {
			return // robfig searches only five years
		}
		if !next.Equal(want) {
			t.Fatalf("%s after %v: %v, robfig returns %v", text, at, next, want)
		}
		at = next
	}
}

// drawField draws a field: stars, values, names, ranges, steps and lists of these.
func drawField(t *rapid.T, f *field) string {
	parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawItem(t, f) }), 1, 3).Draw(t, f.name)
	if rapid.Bool().Draw(t, f.name+" any") {
		return "*"
	}
	return strings.Join(parts, ",")
}

func drawItem(t *rapid.T, f *field) string {
	a, b := rapid.IntRange(f.low, f.high).Draw(t, "a"), rapid.IntRange(f.low, f.high).Draw(t, "b")
	step := rapid.IntRange(2, f.size()-1).Draw(t, "step")
	low, high := min(a, b), max(a, b)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return fmt.Sprintf("*/%d", step)
	case 1:
		return fmt.Sprintf("%d-%d", low, high)
	case 2:
		return fmt.Sprintf("%d-%d/%d", low, high, step)
	case 3:
		return fmt.Sprintf("%d/%d", low, step)
	case 4:
		if f.names != nil {
			return strings.ToLower(f.names[a-f.low])
		}
	}
	return fmt.Sprint(a)
}
