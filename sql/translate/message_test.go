package translate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/translate"
)

// Messages name what is wrong, and hints do not lead away from it.
func TestMessagesOfRefusedCalls(t *testing.T) {
	d := openTestDB(t)
	for text, want := range map[string]string{
		"SELECT sin(1)":                  "0A000 function sin is not supported; the SQL reference lists the functions",
		"SELECT lowr('A')":               "42883 function lowr(unknown) does not exist; did you mean lower?",
		"SELECT make_interval(foo => 1)": "42883 make_interval has no argument foo; the arguments are",
		"SELECT interval '1 day ago'":    `0A000 the interval format of "1 day ago" is not supported; write`,
		"SELECT date '05/06/2026'":       `0A000 the time format of "05/06/2026" is not supported; write a date such as 2026-11-15`,
		"SELECT percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY n) FROM sys.jobs": "0A000 function percentile_cont(double precision[], any) is not supported; call it once for each fraction",
	} {
		_, _, err := d.query(text, nil)
		e, is := errors.AsType[*translate.Error](err)
		if !is || e.Offset < 0 || !strings.HasPrefix(e.State+" "+e.Message+"; "+e.Hint, want) {
			t.Errorf("%s\n\tgot  %+v\n\twant %s", text, err, want)
		}
	}
}

// An encoding that is not supported is named, and so are the bytes that are no text.
func TestMessagesOfConversions(t *testing.T) {
	d := openTestDB(t)
	for text, want := range map[string]string{
		`SELECT convert_from('\x61e46263', 'UTF8')`: `22021 invalid byte sequence for encoding "UTF8": 0xe4 0x62 0x63; encode(x, 'hex') shows bytes that are not a text`,
		`SELECT convert_from('\x6100', 'utf-8')`:    `22021 invalid byte sequence for encoding "UTF8": 0x00; encode(x, 'hex') shows bytes that are not a text`,
		`SELECT convert_from('a', 'LATIN1')`:        `0A000 encoding "LATIN1" is not supported; use UTF8`,
		`SELECT convert_to('a', '')`:                `0A000 encoding "" is not supported; use UTF8`,
	} {
		_, _, err := d.query(text, nil)
		if e, is := errors.AsType[*translate.Error](err); !is || e.State+" "+e.Message+"; "+e.Hint != want {
			t.Errorf("%s\n\tgot  %+v\n\twant %s", text, err, want)
		}
	}
}
