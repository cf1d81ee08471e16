package cron

import (
	"testing"
	"time"
)

// mustParse parses an expression that must be valid.
func mustParse(t testing.TB, text, zone string) Cron {
	t.Helper()
	c, err := Parse(text, Config{Zone: zone, Name: "test"})
	if err != nil {
		t.Fatalf("Parse(%q, %q): %v", text, zone, err)
	}
	return c
}

// instant parses "2006-01-02 15:04:05" or "2006-01-02 15:04" as UTC.
func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := ParseTime(text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestParseEqualForDifferentSpellings compares pairs of spellings of the same sets.
func TestParseEqualForDifferentSpellings(t *testing.T) {
	for _, pair := range [][2]string{
		{"*/15 * * * *", "0,15,30,45 * * * *"},
		{"5/15 * * * *", "5,20,35,50 * * * *"},
		{"10-30/10 * * * *", "10,20,30 * * * *"},
		{"*/7 * * * *", "0,7,14,21,28,35,42,49,56 * * * *"},
		{"0 0-23 * * *", "0 * * * *"},
		{"0 */1 * * *", "0 * * * *"},
		{"00 09 * * *", "0 9 * * *"},
		{"0 0 * JAN *", "0 0 * 1 *"},
		{"0 0 * jan,Dec *", "0 0 * 1,12 *"},
		{"0 0 * MAR-MAY *", "0 0 * 3-5 *"},
		{"0 0 * * 7", "0 0 * * 0"},
		{"0 0 * * SUN", "0 0 * * 0"},
		{"0 0 * * 6-7", "0 0 * * 6,0"},
		{"0 0 * * 5-7", "0 0 * * 5,6,0"},
		{"0 0 * * FRI-SUN", "0 0 * * 5-7"},
		{"0 0 * * fri-sun/2", "0 0 * * 5,7"},
		{"0 0 * * SUN-TUE", "0 0 * * 0-2"},
		{"0 0 * * SUN-SUN", "0 0 * * 0"},
		{"0 0 * * 0-7", "0 0 * * *"},
		{"0 0 * * 1-7", "0 0 * * *"},
		{"0 0 1-31 * 1", "0 0 * * 1"},
		{"0 0 */1 * 1", "0 0 * * 1"},
		{"0 0 13 * 0-7", "0 0 13 * *"},
		{"0 0 * * 1-7/2", "0 0 * * 1,3,5,0"},
		{"0 0 * * 1/2", "0 0 * * 1,3,5"},
		{"  0\t0  * * *  ", "0 0 * * *"},
		{"\r\n0 0\n* *\v*\f\n", "0 0 * * *"},
		{"58/5 * * * *", "58 * * * *"},
		{"5-5/3 * * * *", "5 * * * *"},
		{"*/60 */24 * * *", "0 0 * * *"},
		{" @daily\n", "@daily"},
		{"@hourly", "0 * * * *"},
		{"@daily", "0 0 * * *"},
		{"@midnight", "0 0 * * *"},
		{"@weekly", "0 0 * * 0"},
		{"@monthly", "0 0 1 * *"},
		{"@yearly", "0 0 1 1 *"},
		{"@Annually", "0 0 1 1 *"},
	} {
		if a, b := mustParse(t, pair[0], ""), mustParse(t, pair[1], ""); !sameSets(a, b) {
			t.Errorf("%q and %q differ: %q, %q", pair[0], pair[1], a.Describe(), b.Describe())
		}
	}
}

func sameSets(a, b Cron) bool {
	a.text, b.text = "", ""
	return a == b
}
