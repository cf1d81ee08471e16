package sys

import (
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/rotajobs/rota/console/dialect"
)

// TestQueryCancelledBeforeItIsPrepared: SQLite does not prepare it, which is no error of
// syntax. Catalogue.ended turns what SQLite says into the cause.
func TestQueryCancelledBeforeItIsPrepared(t *testing.T) {
	d, err := openMemoryDB()
	if err != nil {
		t.Fatal(err)
	}
	defer d.conn.Close()
	over := make(chan struct{})
	close(over)
	d.conn.SetInterrupt(over)
	_, _, err = d.conn.PrepareTransient("SELECT 1")
	if got := explain(&dialect.Text{}, err); sqlite.ErrCode(got) != sqlite.ResultInterrupt {
		t.Errorf("SQLite says %v, and it became %v", err, got)
	}
}
