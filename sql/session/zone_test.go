package session_test

import (
	"context"
	"strings"
	"testing"
	"time"
)

// newFixtureInZone returns a fixture whose session has a time zone.
func newFixtureInZone(t *testing.T, zone string) *fixture {
	t.Helper()
	b := newFixture(t)
	b.has("SET TIME ZONE '"+zone+"'", "SET")
	return b
}

// TestArgumentWithoutOffsetUsesSessionZone also checks times with an offset and values of type
// time.Time.
func TestArgumentWithoutOffsetUsesSessionZone(t *testing.T) {
	b := newFixtureInZone(t, "Europe/Berlin")
	for _, test := range []struct {
		arg  any
		want string
	}{
		{"2026-07-01 12:00", "2026-07-01T10:00:00.000000Z"},
		{"2026-03-29 02:30", "2026-03-29T01:30:00.000000Z"},
		{"2026-07-01 12:00+00", "2026-07-01T12:00:00.000000Z"},
		{[]byte("2026-07-01"), "2026-06-30T22:00:00.000000Z"},
		{time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), "2026-07-01T12:00:00.000000Z"},
	} {
		got := b.answer(t, "SELECT $1::timestamptz", test.arg)
		if got != test.want {
			t.Errorf("%v is %s, want %s", test.arg, got, test.want)
		}
	}
	b.run("CREATE JOB a SCHEDULE = EVERY 1 HOUR AS CALL noop()")
	if got := b.answer(t, "SELECT job_name FROM sys.jobs WHERE next_run_time_ts = $1", "2026-03-01 14:00"); got != "a" {
		t.Errorf("found %s", got)
	}
	if got := b.answer(t, "SELECT $1::timestamptz[]", "{2026-07-01,2026-01-01 00:00Z}"); got != `["2026-06-30T22:00:00.000000Z","2026-01-01T00:00:00.000000Z"]` {
		t.Errorf("the array is %s", got)
	}
}

// answer prepares and executes a query and returns its first row.
func (b *fixture) answer(t *testing.T, text string, args ...any) string {
	t.Helper()
	p, err := b.session.Prepare(context.Background(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := b.session.Execute(context.Background(), p, args)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(formatAnswer(a), "\n")[1]
}

// TestPreparedStatementKeepsZoneOfItsLiterals changes the zone between Prepare and Execute. Time literals
// keep the zone of Prepare; arguments and local times use the zone of Execute.
func TestPreparedStatementKeepsZoneOfItsLiterals(t *testing.T) {
	b := newFixtureInZone(t, "Europe/Berlin")
	ctx := context.Background()
	p, err := b.session.Prepare(ctx, "SELECT timestamptz '2026-07-01 12:00', $1::timestamptz, timestamptz '2026-07-01 12:00'::time", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ zone, want string }{
		{"Europe/Berlin", "2026-07-01T10:00:00.000000Z | 2026-07-01T10:00:00.000000Z | 12:00:00.000000"},
		{"Asia/Kolkata", "2026-07-01T10:00:00.000000Z | 2026-07-01T06:30:00.000000Z | 15:30:00.000000"},
		{"UTC", "2026-07-01T10:00:00.000000Z | 2026-07-01T12:00:00.000000Z | 10:00:00.000000"},
		{"Europe/Berlin", "2026-07-01T10:00:00.000000Z | 2026-07-01T10:00:00.000000Z | 12:00:00.000000"},
	} {
		b.has("SET TIME ZONE '"+test.zone+"'", "SET")
		a, err := b.session.Execute(ctx, p, []any{"2026-07-01 12:00"})
		if err != nil {
			t.Fatal(err)
		}
		if got := formatAnswer(a); !strings.Contains(got, test.want) {
			t.Errorf("in %s\n\tgot  %s\n\twant %s", test.zone, got, test.want)
		}
	}
}
