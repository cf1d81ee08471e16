package sqlite

import (
	"database/sql"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest"
)

// TestStoriesInTransactionsOfCaller runs stories with ApplyTx in place of Apply: those of the queue, of what
// ends a run, and one part each of what else the store writes or reports.
func TestStoriesInTransactionsOfCaller(t *testing.T) {
	var open sync.Map // databases of the callers, by store
	h := storetest.InTx(harness(), func(s rota.Store) (any, func() error, func(), error) {
		db, known := open.Load(s)
		if !known {
			one, err := sql.Open("sqlite", "file:"+s.(*Store).path+"?_txlock=immediate&_pragma=busy_timeout(5000)")
			if err != nil {
				return nil, nil, nil, err
			}
			t.Cleanup(func() { _ = one.Close() })
			db, _ = open.LoadOrStore(s, one)
		}
		tx, err := db.(*sql.DB).Begin()
		if err != nil {
			return nil, nil, nil, err
		}
		return tx, tx.Commit, func() { _ = tx.Rollback() }, nil
	})
	storetest.StoriesOf(t, h, "enqueue", "unique", "plan", "claim", "extend", "finish", "retry", "cancel", "all", "batch", "resend",
		"wake", "fire", "group", "key limit", "audit", "events", "webhooks", "secrets")
}
