package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/wrap"
)

// TestHeartbeatWaitsForOtherConnection extends a lease while another connection of the user holds
// the write lock. Apply waits until the lock is released or its context ends.
func TestHeartbeatWaitsForOtherConnection(t *testing.T) {
	for name, wrapStore := range map[string]func(rota.Store) rota.Store{
		"alone": func(s rota.Store) rota.Store { return s }, "coalesced": wrap.Coalesce,
	} {
		t.Run(name, func(t *testing.T) {
			file := openTest(t, Config{})
			s := wrapStore(file)
			job := running(t, file, 1)[0]
			extend := &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Minute, Items: []rota.ExtendItem{{LeaseRef: lease(job)}}}
			conn := rawConn(t, file.path)
			execute(t, conn, "BEGIN IMMEDIATE")

			short, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer end()
			if _, err := rota.Do[*rota.Extended](short, s, extend); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a caller with a short deadline got %v", err)
			}
			freed := make(chan error, 1)
			time.AfterFunc(50*time.Millisecond, func() {
				stmt, _, err := conn.PrepareTransient("ROLLBACK")
				if err == nil {
					_, err = stmt.Step()
					_ = stmt.Finalize()
				}
				freed <- err
			})
			reply, err := rota.Do[*rota.Extended](t.Context(), s, extend)
			if err != nil || reply.Items[0].Code != "" {
				t.Errorf("a caller without a deadline got %+v, %v", reply, err)
			}
			must(t, <-freed)
			verifyClean(t, file)
		})
	}
}

// TestApplyReportsOtherConnectionAfterTimeout holds the write lock for longer than Apply waits.
// Apply returns an error, reads are answered meanwhile, and the store continues when the lock is
// released. See river issue #1251, where a worker stopped without an error.
func TestApplyReportsOtherConnectionAfterTimeout(t *testing.T) {
	s := openTest(t, Config{})
	w, err := s.acquire(t.Context())
	must(t, err)
	if w.maxWait != busyTimeout {
		t.Errorf("the writer waits for %s", w.maxWait)
	}
	w.maxWait = 50 * time.Millisecond
	s.release(w)
	batch := at(0, enqueue(rota.NewJob{Type: "mail"}))
	conn := rawConn(t, s.path)
	execute(t, conn, "BEGIN IMMEDIATE")
	for range 2 {
		_, err = s.Apply(t.Context(), batch)
		checkError(t, err, rota.Busy, "another connection holds the file", "end the transaction")
		_, err = s.NextDue(t.Context())
		must(t, err)
	}
	execute(t, conn, "ROLLBACK")
	apply(t, s, batch)
	if jobs, err := s.Jobs(t.Context(), rota.JobQuery{}); err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}
