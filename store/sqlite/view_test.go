package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// TestOpenViewsDoNotBlockReads opens more views than the pool has connections.
func TestOpenViewsDoNotBlockReads(t *testing.T) {
	s := openTest(t, Config{Readers: 1})
	fillJobs(t, s)
	for range 3 {
		v, err := s.View(t.Context())
		must(t, err)
		defer v.Close()
	}
	checkReadAnswered(t, s, "three views")
}

// TestCloseInterruptsReadOfView closes the store during a read. The file is released only after the
// read has ended.
func TestCloseInterruptsReadOfView(t *testing.T) {
	s := openTest(t, Config{})
	v, err := s.View(t.Context())
	must(t, err)
	closed := make(chan error, 1)
	err = v.(*view).useSnapshot(t.Context(), "forever", func(conn *sqlite.Conn) error {
		go func() { closed <- s.Close() }()
		<-s.closed
		if _, err := Open(s.path); rota.CodeOf(err) != rota.Busy {
			t.Errorf("Open succeeds while the view reads the file: %v", err)
		}
		return query(conn, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`, nil, func(*sqlite.Stmt) {})
	})
	checkError(t, err, rota.Unavailable, "the store is closed", "")
	must(t, <-closed)
	must(t, reopen(s.path))
}

// TestReadOfViewEndsWithContext cancels a read. The view stays usable.
func TestReadOfViewEndsWithContext(t *testing.T) {
	s := openTest(t, Config{})
	v, err := s.View(t.Context())
	must(t, err)
	ctx, end := context.WithCancel(t.Context())
	err = v.(*view).useSnapshot(ctx, "forever", func(conn *sqlite.Conn) error {
		end()
		return query(conn, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`, nil, func(*sqlite.Stmt) {})
	})
	if err != context.Canceled {
		t.Errorf("answered with %v", err)
	}
	apply(t, s, at(time.Second, enqueue(rota.NewJob{Type: "mail"})))
	if n, err := v.CountJobs(t.Context(), rota.JobQuery{}); n != 0 || err != nil {
		t.Errorf("the view counts %d, %v", n, err)
	}
	must(t, v.Close())
}
