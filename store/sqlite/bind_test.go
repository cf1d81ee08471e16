package sqlite

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

func TestQueryRefusesWrongNumberOfArguments(t *testing.T) {
	conn, err := sqlite.OpenConn(":memory:")
	must(t, err)
	defer conn.Close()
	const sql = `SELECT $1 + $2`
	read := func(args ...any) (sum int64, err error) {
		err = query(conn, sql, func(r storekit.Row) error {
			sum = r.Int(0)
			return nil
		}, args...)
		return sum, err
	}
	if sum, err := read(1, 2); err != nil || sum != 3 {
		t.Errorf("two arguments: got %d and error %v", sum, err)
	}
	for _, args := range [][]any{nil, {1}, {1, 2, 3}} {
		_, err := read(args...)
		if err == nil || !strings.Contains(err.Error(), sql) {
			t.Errorf("%d arguments: got error %v, want one that contains the statement", len(args), err)
		}
	}
}
