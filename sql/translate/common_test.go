package translate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
)

// nestedCommonTables is a query of common tables each of which names the last one twice.
func nestedCommonTables(levels int, again string) string {
	var b strings.Builder
	b.WriteString("WITH a0 AS (SELECT 1 x)")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, ", a%d AS (%s)", i, strings.ReplaceAll(again, "@", fmt.Sprintf("a%d", i-1)))
	}
	fmt.Fprintf(&b, " SELECT count(*) FROM a%d", levels)
	return b.String()
}

// SQLite would expand these common tables until no memory is left.
func TestExpandedCommonTablesAreLimited(t *testing.T) {
	for _, again := range []string{
		"SELECT a.x FROM @ a, @ b",
		"SELECT (SELECT max(x) FROM @) + (SELECT min(x) FROM @) AS x",
		"SELECT x FROM @ UNION ALL SELECT x FROM (SELECT * FROM @) d",
		"WITH i AS (SELECT * FROM @) SELECT i.x FROM i, i k",
		"SELECT x FROM @ WHERE x IN (SELECT x FROM @) OR EXISTS (SELECT 1 FROM @)",
	} {
		for _, levels := range []int{39, 200} {
			q, err := query.Parse(nestedCommonTables(levels, again))
			must(t, err)
			_, err = translate.Translate(q, catalogue{}, nil)
			if e, is := errors.AsType[*translate.Error](err); !is || e.State != translate.StateLimit {
				t.Errorf("%s, %d times: %v", again, levels, err)
			}
		}
	}
	if _, _, err := openTestDB(t).query(nestedCommonTables(6, "SELECT a.x FROM @ a, @ b"), nil); err != nil {
		t.Error(err)
	}
	if _, _, err := openTestDB(t).query(nestedCommonTables(80, "SELECT x + 1 AS x FROM @"), nil); err != nil {
		t.Error(err)
	}
}
