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
