package cron

import (
	"testing"
	"time"
)

// TestParseTimeAcceptsCommonVariants checks the times that Rota's tables print and variants of RFC 3339.
func TestParseTimeAcceptsCommonVariants(t *testing.T) {
	for _, row := range []struct{ zone, text, want string }{
		// In the local time of the zone.
		{"Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00Z"},
		{"Europe/Berlin", "2026-07-01 09:00", "2026-07-01T07:00:00Z"},
		{"Europe/Berlin", "2026-07-01T09:00:07", "2026-07-01T07:00:07Z"},
		{"Europe/Berlin", "2026-07-01t09:00", "2026-07-01T07:00:00Z"},
		{"Europe/Berlin", "2026-10-25 02:30", "2026-10-25T00:30:00Z"},
		// With an offset.
		{"Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T02:30:00Z"},
		{"Europe/Berlin", "2026-10-25t02:30:00z", "2026-10-25T02:30:00Z"},
		{"Europe/Berlin", "2026-10-25 02:30:00Z", "2026-10-25T02:30:00Z"},
		{"Europe/Berlin", "2026-10-25T02:30Z", "2026-10-25T02:30:00Z"},
		{"Europe/Berlin", "2026-10-25T02:30+01:00", "2026-10-25T01:30:00Z"},
		{"Europe/Berlin", "2026-10-25 02:30 +01:00", "2026-10-25T01:30:00Z"},
		{"Europe/Berlin", "2026-10-25 02:30 -05:30", "2026-10-25T08:00:00Z"},
		{"Europe/Berlin", "2026-10-25T02:30:00.25Z", "2026-10-25T02:30:00.25Z"},
		{"Africa/Monrovia", "1960-01-01 00:00 -00:44:30", "1960-01-01T00:44:30Z"},
		// Refused.
		{"UTC", "", `time: "" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"UTC", "2026-1-1", `time: "2026-1-1" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"UTC", "2026-10-25 02:30:00.5", `time: "2026-10-25 02:30:00.5" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"UTC", "2026-10-25 02:30.5Z", `time: "2026-10-25 02:30.5Z" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"UTC", "2026-10-25 02:30Z:00", `time: "2026-10-25 02:30Z:00" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"UTC", "2026-02-29", `time: "2026-02-29" does not exist: there is no such date; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"UTC", "2026-13-01T00:00Z", `time: "2026-13-01T00:00Z" does not exist: there is no such date; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"UTC", "2026-10-25 24:00", `time: "2026-10-25 24:00" has an invalid time of day; allowed 00:00 to 23:59:59`},
		{"UTC", "2026-10-25 02:30 +24:00", `time: "2026-10-25 02:30 +24:00" has an invalid offset; allowed Z or -23:59 to +23:59`},
		{"UTC", "9999-12-31T23:59:59-12:00", `time: "9999-12-31T23:59:59-12:00" is out of range; allowed the years 1 to 9999`},
		{"Europe/Berlin", "2026-03-29 02:30", `time: "2026-03-29 02:30" does not exist in Europe/Berlin: clocks go forward over it; write a time that the clock shows, or one with an offset`},
	} {
		loc, err := LoadZone(row.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := ParseTime(row.text, loc)
		got := at.UTC().Format(time.RFC3339Nano)
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%q in %s:\n got %s\nwant %s", row.text, row.zone, got, row.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, row := range []struct{ text, zone, want string }{
		{"2026-11-15T09:00:00Z", "Europe/Berlin", "2026-11-15T10:00:00+01:00"},
		{"2026-11-15T09:00:00+05:30", "UTC", "2026-11-15T03:30:00Z"},
		{"2026-11-15", "Europe/Berlin", "2026-11-15T00:00:00+01:00"},
		{"2026-11-15 09:00", "Europe/Berlin", "2026-11-15T09:00:00+01:00"},
		{"2026-11-15 09:00:30", "Europe/Berlin", "2026-11-15T09:00:30+01:00"},
		{"2026-11-15T09:00", "Europe/Berlin", "2026-11-15T09:00:00+01:00"},
		// Occurs twice: the first occurrence. The times around clock changes.
		{"2026-10-25 02:30", "Europe/Berlin", "2026-10-25T02:30:00+02:00"},
		{"2026-10-25 03:00", "Europe/Berlin", "2026-10-25T03:00:00+01:00"},
		{"2026-03-29 03:00", "Europe/Berlin", "2026-03-29T03:00:00+02:00"},
		// Does not exist: refused, with the reason.
		{"2026-03-29 02:30", "Europe/Berlin", `time: "2026-03-29 02:30" does not exist in Europe/Berlin: clocks go forward over it; write a time that the clock shows, or one with an offset`},
		{"2018-11-04", "America/Sao_Paulo", `time: "2018-11-04" does not exist in America/Sao_Paulo: clocks go forward over it; write a time that the clock shows, or one with an offset`},
		{"2011-12-30 12:00", "Pacific/Apia", `time: "2011-12-30 12:00" does not exist in Pacific/Apia: clocks go forward over it; write a time that the clock shows, or one with an offset`},
		// Not times.
		{"2026-02-30", "UTC", `time: "2026-02-30" does not exist: there is no such date; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"2026-11-15 9:00", "UTC", `time: "2026-11-15 9:00" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"2026-11-15 09:00:00.5", "UTC", `time: "2026-11-15 09:00:00.5" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
		{"0000-01-01", "UTC", `time: "0000-01-01" is out of range; allowed the years 1 to 9999`},
		{"", "UTC", `time: "" is not a time; allowed RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]`},
	} {
		loc, err := LoadZone(row.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := ParseTime(row.text, loc)
		got := at.Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%q in %s:\n got %s\nwant %s", row.text, row.zone, got, row.want)
		}
	}
}
