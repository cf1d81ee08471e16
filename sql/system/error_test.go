package system

import (
	"testing"

	"zombiezen.com/go/sqlite"
)

// TestPrepareCancelledQueryReturnsInterrupt checks that the interrupt is not reported as a syntax error.
// Catalogue.endError converts it to the cause of the context.
func TestPrepareCancelledQueryReturnsInterrupt(t *testing.T) {
	d, err := openMemoryDB(&oneAtATime{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.conn.Close()
	over := make(chan struct{})
	close(over)
	d.conn.SetInterrupt(over)
	_, _, err = d.conn.PrepareTransient("SELECT 1")
	if got := d.explain(err); sqlite.ErrCode(got) != sqlite.ResultInterrupt {
		t.Errorf("SQLite reports %v, explain returns %v", err, got)
	}
}
