package translate_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
)

// zoneNames are those of the sessions: east and west of Greenwich, with an offset of half
// an hour, with a summer of half an hour, with days that had no midnight, and with a name
// that is an abbreviation, too.
var zoneNames = []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo", "CET"}

// Both servers return the same rows in sessions of several time zones: for queries of times,
// for all samples and for random expressions.
func TestZonesMatchPostgres(t *testing.T) {
	d, conn := openTestDB(t), postgres(t)
	for _, zone := range zoneNames {
		t.Run(zone, func(t *testing.T) {
			_, err := conn.Exec(context.Background(), "SET TimeZone = '"+zone+"'").ReadAll()
			must(t, err)
			d.zone = zone
			for _, file := range []string{"zones.sql", "same.sql"} {
				for _, s := range samples(t, file) {
					t.Run(strings.TrimSuffix(file, ".sql")+strconv.Itoa(s.line), func(t *testing.T) { compareSample(t, d, conn, s) })
				}
			}
			compareRandom(t, d, conn, 60)
		})
	}
}

// A time literal is compared in its stored form in every zone, so that tables can evaluate the
// condition.
func TestTimeLiteralsStayUnchangedInZones(t *testing.T) {
	for text, want := range map[string]string{
		"next_run > '2026-11-16 10:00'":                            `"jobs"."next_run" > '2026-11-16T09:00:00.000000Z'`,
		"next_run > '2026-11-16 10:00+00'":                         `"jobs"."next_run" > '2026-11-16T10:00:00.000000Z'`,
		"next_run BETWEEN '2026-07-01' AND $1":                     `"jobs"."next_run" BETWEEN '2026-06-30T22:00:00.000000Z' AND ?1`,
		"next_run IN ('2026-07-01', timestamptz '2026-12-01')":     `"jobs"."next_run" IN ('2026-06-30T22:00:00.000000Z', '2026-11-30T23:00:00.000000Z')`,
		"next_run = ANY('{2026-07-01}')":                           `"jobs"."next_run" IN ('2026-06-30T22:00:00.000000Z')`,
		"next_run > date '2026-07-01'":                             `"jobs"."next_run" > rota_moment('timestamptz', '2026-07-01', 'Europe/Berlin')`,
		"next_run < now() - interval '1 day'":                      `"jobs"."next_run" < rota_shift(now(), '0 1 0', -1, 'Europe/Berlin')`,
		"local > '2026-11-16 10:00' AND day = '2026-11-16'":        `"jobs"."local" > '2026-11-16T10:00:00.000000' AND "jobs"."day" = '2026-11-16'`,
		"local + interval '1 day' > date_trunc('day', local)":      `rota_shift("jobs"."local", '0 1 0', 1) > rota_date_trunc('day', "jobs"."local")`,
		"(next_run, n) = ('2026-07-01', 1) AND clock > '10:00:00'": `("jobs"."next_run", "jobs"."n") = ('2026-06-30T22:00:00.000000Z', 1) AND "jobs"."clock" > '10:00:00.000000'`,
	} {
		got := translateIn(t, catalogue{"Europe/Berlin"}, "SELECT n FROM jobs WHERE "+text).Text
		if want = `SELECT "jobs"."n" FROM "sys"."jobs" WHERE ` + want; got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, got, want)
		}
	}
}

// In UTC the texts equal those of a session without a time zone.
func TestUTCTextsHaveNoZone(t *testing.T) {
	for _, file := range []string{"zones.sql", "same.sql"} {
		for _, s := range samples(t, file) {
			plain := translateText(t, s.text).Text
			for _, zone := range []string{"UTC", "Etc/UTC"} {
				if got := translateIn(t, catalogue{zone}, s.text).Text; got != plain {
					t.Errorf("%s\n\tgot  %s\n\twant %s", s.text, got, plain)
				}
			}
		}
	}
}

// changedZone is a session that has changed its zone since a query was prepared.
type changedZone struct {
	catalogue
	written string
}

func (m changedZone) Zones() (written, shown string) { return m.written, m.zone }

// A change of the session's zone does not change the times that the query contains.
func TestZoneChangeKeepsWrittenTimes(t *testing.T) {
	in := changedZone{catalogue{"Asia/Kolkata"}, "Europe/Berlin"}
	got := translateIn(t, in, "SELECT timestamptz '2026-01-01 12:00'::date").Text
	if want := `SELECT rota_moment('date', '2026-01-01T11:00:00.000000Z', 'Asia/Kolkata')`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A text without a zone is parsed in the zone of the session; an unknown zone is an error.
func TestParseValueInZone(t *testing.T) {
	for _, test := range []struct {
		zone string
		kind kind.Kind
		text string
		want any
	}{
		{"", kind.Timestamp, "2026-07-01 12:00", "2026-07-01T12:00:00.000000Z"},
		{"Europe/Berlin", kind.Timestamp, "2026-07-01 12:00", "2026-07-01T10:00:00.000000Z"},
		{"Europe/Berlin", kind.Timestamp, "2026-07-01 12:00Z", "2026-07-01T12:00:00.000000Z"},
		{"Europe/Berlin", kind.Timestamp, "infinity", "infinity"},
		{"Europe/Berlin", kind.Local, "2026-07-01 12:00", "2026-07-01T12:00:00.000000"},
		{"Europe/Berlin", kind.Timestamp.Array(), "{2026-07-01,NULL}", `["2026-06-30T22:00:00.000000Z",null]`},
		{"Europe/Berlin", kind.Timestamp, "0001-01-01", nil},
		{"America/New_York", kind.Timestamp, "9999-12-31 23:00", nil},
		{"Nowhere/Land", kind.Timestamp, "2026-07-01", nil},
	} {
		got, err := translate.ParseValueIn(test.zone, test.kind, test.text)
		if got != test.want || (err == nil) != (test.want != nil) {
			t.Errorf("%s %s %s: %v, %v", test.zone, test.kind, test.text, got, err)
		}
	}
}

func translateIn(t testing.TB, in translate.Catalogue, text string) *translate.Statement {
	t.Helper()
	q, err := query.Parse(text)
	must(t, err)
	s, err := translate.Translate(q, in, nil)
	if err != nil {
		t.Fatalf("%s\n\t%v", text, err)
	}
	return s
}
