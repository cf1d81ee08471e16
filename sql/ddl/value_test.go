package ddl

import (
	"encoding/json"
	"testing"
	"time"
)

func TestCallArgumentsMarshalToJSON(t *testing.T) {
	s, err := Parse(`CREATE JOB a SCHEDULE CRON 'x' AS CALL p(1, -02.50, 1E5, 'it''s "so"', NULL, TRUE, FALSE)`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(s.(*CreateJob).Job.Action.Args)
	if want := `[1,-2.50,1E5,"it's \"so\"",null,true,false]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("X", 2*60*60)
	for text, want := range map[string]string{
		"2026-11-15 09:00":                 "2026-11-15T07:00:00Z",
		"2026-11-15 09:00:30":              "2026-11-15T07:00:30Z",
		"2026-11-15 09:00:30.25":           "2026-11-15T07:00:30.25Z",
		"2026-11-15T09:00:00Z":             "2026-11-15T09:00:00Z",
		"2026-11-15T09:00:00.123456-03:30": "2026-11-15T12:30:00.123456Z",
		"2026-11-15":                       "2026-11-14T22:00:00Z",
		"2026-11-15 09:00+05":              "2026-11-15T04:00:00Z",
		"2026-11-15 09:00:30-03":           "2026-11-15T12:00:30Z",
		"2026-11-15T09:00:00+02":           "2026-11-15T07:00:00Z",
		"2026-11-15 09:00+0530":            "2026-11-15T03:30:00Z",
		"2026-11-15 09:00-03:30":           "2026-11-15T12:30:00Z",
		"2026-11-15 9:00":                  "",
		"2026-11-15 09:00Z":                "2026-11-15T09:00:00Z",
		"2026-11-15 09:00:00.":             "",
		"2026-11-15 24:00":                 "",
		"2026-11-15T09:00:00":              "2026-11-15T07:00:00Z",
		"2026-11-15T09:00":                 "2026-11-15T07:00:00Z",
		"2026-11-15 09:00:00,5":            "",
		"2026-11-15T09:00:00 Z":            "2026-11-15T09:00:00Z",
		"2026-11-15 09:00 +05":             "2026-11-15T04:00:00Z",
		"2026-11-15 09:00:30.25 -03:30":    "2026-11-15T12:30:30.25Z",
		"2026-11-15 09:00 +0530":           "2026-11-15T03:30:00Z",
		"2026-11-15 09:00  +05":            "",
		"2026-11-15 09:00 ":                "",
		"2026-11-15 +05":                   "",
		" 2026-11-15 09:00":                "",
		"":                                 "",
	} {
		got, ok := ParseTime(text, zone)
		if ok != (want != "") || ok && got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%q: got %v, %t; want %s", text, got, ok, want)
		}
	}
}

// TestErrorText puts the parts of an error together.
func TestErrorText(t *testing.T) {
	for want, e := range map[string]Error{
		"line 0, column 0: found A, expected B":                {Found: "A", Expected: "B"},
		"line 0, column 0: found A, expected B; do C":          {Found: "A", Expected: "B", Hint: "do C"},
		"line 0, column 0: because":                            {Reason: "because"},
		"line 0, column 0: found A, expected B: because; do C": {Found: "A", Expected: "B", Reason: "because", Hint: "do C"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
