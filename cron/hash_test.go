package cron

import (
	"fmt"
	"testing"
)

// TestHashValuesNeverChange holds the values of the hash: users rely on the times, so a release must not change them.
func TestHashValuesNeverChange(t *testing.T) {
	for _, row := range []struct{ text, name, want string }{
		{"H H * * *", "nightly-backup", "every day at 09:22, UTC"},
		{"H H(1-4) * * *", "nightly-backup", "every day at 02:22, UTC"},
		{"H/15 * * * *", "nightly-backup", "at minutes 7, 22, 37 and 52 of every hour, UTC"},
		{"H(0-29)/10 * * * *", "nightly-backup", "at minutes 2, 12 and 22 of every hour, UTC"},
		{"H(0-29),45 * * * *", "nightly-backup", "at minutes 22 and 45 of every hour, UTC"},
		{"0 0 H * *", "nightly-backup", "at 00:00 on day 24 of every month, UTC"},
		{"0 0 1 h(JAN-JUN) *", "nightly-backup", "every year on 1 May at 00:00, UTC"},
		{"0 0 * * H", "nightly-backup", "every Wednesday at 00:00, UTC"},
		{"0 0 * * H(5-7)", "nightly-backup", "every Friday at 00:00, UTC"},
		{"H(0-29)/40 * * * *", "nightly-backup", "at minute 22 of every hour, UTC"},
		{"0 0 H/30 * *", "nightly-backup", "at 00:00 on day 24 of every month, UTC"},
		{"H H * * *", "Nightly-backup", "every day at 04:14, UTC"},
	} {
		c, err := Parse(row.text, Config{Name: row.name})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Describe(); got != row.want {
			t.Errorf("%s of %s: %s, want %s", row.text, row.name, got, row.want)
		}
	}
}

// TestHashValuesAreUniform computes H for many names. Each value of each field must occur about equally often; days of
// the month are limited to the 28 that every month has.
func TestHashValuesAreUniform(t *testing.T) {
	const perValue = 400
	for _, f := range []*field{&minuteField, &hourField, &dayField, &monthField, &weekdayField} {
		size := f.hashMax - f.low + 1
		counts := map[int]int{}
		for i := range perValue * size {
			s, err := f.parse("H", newSeed(fmt.Sprintf("job-%d", i), f))
			if err != nil {
				t.Fatal(err)
			}
			counts[s.first()]++
		}
		for v := f.low; v <= f.hashMax; v++ {
			if counts[v] < perValue*3/4 || counts[v] > perValue*5/4 {
				t.Errorf("%s: value %d occurs %d times, want about %d", f.name, v, counts[v], perValue)
			}
		}
		if len(counts) != size {
			t.Errorf("%s: %d values, want %d", f.name, len(counts), size)
		}
	}
}

// TestHashStepLongerThanRangeLeavesOneValue checks that H with a step longer than its range has one value for every name.
func TestHashStepLongerThanRangeLeavesOneValue(t *testing.T) {
	for i := range 100 {
		for text, f := range map[string]*field{"H(0-29)/40": &minuteField, "H/30": &dayField} {
			s, err := f.parse(text, newSeed(fmt.Sprintf("job-%d", i), f))
			if err != nil || s.size() != 1 {
				t.Fatalf("%s of job-%d has %d values, %v", text, i, s.size(), err)
			}
		}
	}
}

// TestHashFieldsAreIndependent counts pairs of minute modulo 6 and hour modulo 6. If both fields used one hash, only six
// of the 36 pairs could occur.
func TestHashFieldsAreIndependent(t *testing.T) {
	pairs := map[[2]int]bool{}
	for i := range 1000 {
		c, err := Parse("H H * * *", Config{Name: fmt.Sprintf("job-%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		pairs[[2]int{c.minutes.first() % 6, c.hours.first() % 6}] = true
	}
	if len(pairs) != 36 {
		t.Errorf("%d of 36 pairs", len(pairs))
	}
}
