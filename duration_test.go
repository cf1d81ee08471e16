package rota

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s":                90 * time.Second,
		"1h30m":              90 * time.Minute,
		"1.5h":               90 * time.Minute,
		"250ms":              250 * time.Millisecond,
		"0":                  0,
		"0s":                 0,
		"-5s":                -5 * time.Second,
		"1H30M":              90 * time.Minute,
		" 10s ":              10 * time.Second,
		"90 SECONDS":         90 * time.Second,
		"1 second":           time.Second,
		"5 Minutes":          5 * time.Minute,
		"1 HOUR":             time.Hour,
		"1 HOURS":            time.Hour,
		"2 DAYS":             48 * time.Hour,
		"0.5 days":           12 * time.Hour,
		"1 week":             7 * 24 * time.Hour,
		"100 MILLISECONDS":   100 * time.Millisecond,
		"1 HOUR  30 MINUTES": 90 * time.Minute,
		"2d":                 48 * time.Hour,
		"1d12h":              36 * time.Hour,
		"30D":                30 * 24 * time.Hour,
		"0d":                 0,
		"-1d1s":              -24*time.Hour - time.Second,
		"106751d":            106751 * 24 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseDurationErrorsSuggestForm(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "is empty; write it like 90s, 1h30m or 2 DAYS",
		"  ":                    "is empty",
		"90":                    `"90" has no unit; for seconds write 90s`,
		"1.5d":                  "is not a duration",
		"1h1d":                  "is not a duration",
		"d":                     "is not a duration",
		"-":                     "is not a duration",
		"106752d":               "too long; at most 292 years are allowed",
		"106751d24h":            "too long",
		"99999999999999999999d": "too long",
		"1000000000h":           "too long",
		"3W":                    "for weeks write 3 WEEKS",
		"soon":                  `"soon" is not a duration; write it like 90s, 1h30m or 2 DAYS`,
		"5 FORTNIGHTS":          "is not a duration",
		"1 HOUR 30":             "is not a duration",
		"HOUR 1":                "is not a duration",
		"-1 HOUR":               "is not a duration",
		"1.2.3 HOURS":           "is not a duration",
		". HOURS":               "is not a duration",
		"99999999 DAYS":         "too long; at most 292 years are allowed",
		"9999999999999 HOURS":   "too long",
		"200000 DAYS 1 WEEKS":   "too long",
		"106000 DAYS 1000 DAYS": "too long",
		strings.Repeat("9", 99): "too long",
		strings.Repeat("x", 99): "…",
	} {
		_, err := ParseDuration(text)
		if CodeOf(err) != Invalid || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%q: got %v, want an Invalid with %q", text, err, want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s":      0,
		"1m30s":   90 * time.Second,
		"1h":      time.Hour,
		"1h30m":   90 * time.Minute,
		"1h0m5s":  time.Hour + 5*time.Second,
		"10m":     10 * time.Minute,
		"48h":     48 * time.Hour,
		"100h":    100 * time.Hour,
		"1.5s":    1500 * time.Millisecond,
		"-2h":     -2 * time.Hour,
		"10s":     10 * time.Second,
		"1h0m10s": time.Hour + 10*time.Second,
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestFormatDurationIsParsedBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		if got, err := ParseDuration(FormatDuration(d)); err != nil || got != d {
			t.Fatalf("%v is written %s and read as %v, %v", d, FormatDuration(d), got, err)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"90s", "1 HOUR 30 MINUTES", "2d", "9223372036854775807ns", "1.5 WEEKS", "µs", ".5 DAYS"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			if CodeOf(err) != Invalid || len(err.Error()) > 400 {
				t.Errorf("got %v", err)
			}
			return
		}
		if again, err := ParseDuration(FormatDuration(d)); err != nil || again != d {
			t.Errorf("%q is %v, written %s and read as %v, %v", text, d, FormatDuration(d), again, err)
		}
		if d < 0 && !strings.HasPrefix(strings.TrimSpace(text), "-") {
			t.Errorf("%q became negative: %v", text, d)
		}
	})
}
