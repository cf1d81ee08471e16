package cron

import "testing"

func TestPortable(t *testing.T) {
	for text, want := range map[string]string{
		"* * * * *":              "* * * * *",
		"*/15 0-23 1-31 */1 0-7": "0,15,30,45 * * * *",
		"5/20 9-17/4 1,15 * *":   "5,25,45 9,13,17 1,15 * *",
		"0 0 * JAN,MAR FRI-SUN":  "0 0 * 1,3 0,5,6",
		"@midnight":              "0 0 * * *",
		"@yearly":                "0 0 1 1 *",
		"0 0 13 * 7":             "0 0 13 * 0",
	} {
		c, err := Parse(text, Config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Portable(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestPortableFiresAtTheSameTimes checks that the portable expression has the same sets, also for H, and that it parses
// without the name that H needs.
func TestPortableFiresAtTheSameTimes(t *testing.T) {
	for _, text := range []string{"H H(1-4) * * *", "H/10 * H * *", "*/7 */5 */2 * MON", "H H H H H", "59 23 31 12 SAT"} {
		c, err := Parse(text, Config{Name: "nightly", Zone: "Europe/Berlin"})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(c.Portable(), Config{Zone: "Europe/Berlin"})
		if err != nil {
			t.Fatal(err)
		}
		again.text = c.text
		if again != c {
			t.Errorf("%q and %q differ", text, c.Portable())
		}
	}
}
