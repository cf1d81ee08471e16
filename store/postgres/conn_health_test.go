//go:build unix

package postgres

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestConnectionEndedByServerIsNotReused: whoever comes next does not hear of it,
// however shortly before they were in use.
func TestConnectionEndedByServerIsNotReused(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for range 5 {
		for range 3 {
			done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		}
		rows(t, s, `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs`)[0][0]; n != "15" {
		t.Errorf("%s jobs are there", n)
	}
}

// TestShouldPingIdleOrClosedConnection: who was idle for long, and of whom this machine
// has heard that it is not.
func TestShouldPingIdleOrClosedConnection(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	conn, err := pgx.Connect(t.Context(), urlOf(s))
	must(t, err)
	defer conn.Close(t.Context())
	asked := func(idle time.Duration) bool {
		return shouldPing(t.Context(), pgxpool.ShouldPingParams{Conn: conn, IdleDuration: idle})
	}
	go func() { _, _ = conn.PgConn().Conn().Read(make([]byte, 1)) }() // as pgconn does in the background
	time.Sleep(10 * time.Millisecond)
	if asked(0) || asked(pingAfter) {
		t.Error("one that is there is asked")
	}
	if !asked(pingAfter + 1) {
		t.Error("one that was idle for long is not asked")
	}
	rows(t, s, `SELECT pg_terminate_backend(`+itoa(int(conn.PgConn().PID()))+`, 60000)`)
	eventually(t, "it is asked, since it has ended", func() bool { return asked(0) })
}

// TestApplyRetriesWhenConnectionIsLostAtBegin: over a connection that broke without a word
// nothing has happened, so another is taken.
func TestApplyRetriesWhenConnectionIsLostAtBegin(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for n := range 3 {
		conn, err := s.pool.Acquire(t.Context())
		must(t, err)
		// What is written to it from now on is lost, and this machine sees nothing of it before.
		must(t, conn.Conn().PgConn().Conn().(*net.TCPConn).CloseWrite())
		if !isQuiet(conn.Conn().PgConn().Conn()) {
			t.Log("the server was quick to see it")
		}
		conn.Release()
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		if got := rows(t, s, `SELECT count(*) FROM rota_jobs`)[0][0]; got != itoa(n+1) {
			t.Fatalf("%s jobs are there after %d", got, n+1)
		}
	}
}

// TestLockWaitIgnoresServerStatementTimeout: the bounds are ours, from
// the first statement on that may take its time.
func TestLockWaitIgnoresServerStatementTimeout(t *testing.T) {
	url := pgtest.Shared(t).URL(newDatabase(t))
	first := openAt(t, url, Config{Logger: quiet})
	rows(t, first, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 1000', current_database()); END $$`)
	s := openAt(t, url, Config{Logger: quiet})
	held, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer held.Close(context.Background())
	_, err = held.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, $2::int)`, s.lockSpace, int(singleLock(classOrder)))
	must(t, err)
	claimed := make(chan error, 1)
	go func() {
		_, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{claimOf("w", 1)}})
		claimed <- err
	}()
	select {
	case err := <-claimed:
		t.Fatalf("a claim did not wait: %v", err)
	case <-time.After(1500 * time.Millisecond):
	}
	must(t, held.Close(t.Context()))
	must(t, <-claimed)
}
