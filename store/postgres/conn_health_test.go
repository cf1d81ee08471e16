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
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestConnectionEndedByServerIsNotReused checks that Apply succeeds after the server has ended all
// connections, also if they were in use a moment before.
func TestConnectionEndedByServerIsNotReused(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for range 5 {
		for range 3 {
			done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		}
		rows(t, s, `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs`)[0][0]; n != "15" {
		t.Errorf("found %s jobs, want 15", n)
	}
}

// TestShouldPingIdleOrClosedConnection checks that a connection is pinged if it was idle for long
// or if the server has closed it.
func TestShouldPingIdleOrClosedConnection(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	conn, err := pgx.Connect(t.Context(), urlOf(s))
	must(t, err)
	defer conn.Close(t.Context())
	pings := func(idle time.Duration) bool {
		return shouldPing(t.Context(), pgxpool.ShouldPingParams{Conn: conn, IdleDuration: idle})
	}
	go func() { _, _ = conn.PgConn().Conn().Read(make([]byte, 1)) }() // as pgconn does in the background
	time.Sleep(10 * time.Millisecond)
	if pings(0) || pings(pingAfter) {
		t.Error("an open connection is pinged")
	}
	if !pings(pingAfter + 1) {
		t.Error("a long idle connection is not pinged")
	}
	rows(t, s, `SELECT pg_terminate_backend(`+itoa(int(conn.PgConn().PID()))+`, 60000)`)
	eventually(t, "the closed connection is pinged", func() bool { return pings(0) })
}

// TestApplyRetriesWhenConnectionIsLostAtBegin checks that Apply uses another connection if one
// breaks before the first answer.
func TestApplyRetriesWhenConnectionIsLostAtBegin(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for n := range 3 {
		conn, err := s.pool.Acquire(t.Context())
		must(t, err)
		// Writes to the connection are lost from now on, and the socket shows nothing before them.
		must(t, conn.Conn().PgConn().Conn().(*net.TCPConn).CloseWrite())
		if !isQuiet(conn.Conn().PgConn().Conn()) {
			t.Log("the server has already closed the connection")
		}
		conn.Release()
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		if got := rows(t, s, `SELECT count(*) FROM rota_jobs`)[0][0]; got != itoa(n+1) {
			t.Fatalf("found %s jobs, want %d", got, n+1)
		}
	}
}

// TestLockWaitIgnoresServerStatementTimeout checks that the store's timeouts replace those of the
// database from the first statement that may wait.
func TestLockWaitIgnoresServerStatementTimeout(t *testing.T) {
	url := pgtest.Shared(t).URL(newDatabase(t))
	first := openAt(t, url, Config{Logger: quiet})
	rows(t, first, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 1000', current_database()); END $$`)
	s := openAt(t, url, Config{Logger: quiet})
	held, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer held.Close(context.Background())
	_, err = held.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, $2::int)`, s.lockSpace, int(singleLock(rules.LockOrder)))
	must(t, err)
	claimed := make(chan error, 1)
	go func() {
		_, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{claimOf("w", 1)}})
		claimed <- err
	}()
	select {
	case err := <-claimed:
		t.Fatalf("the claim did not wait for the lock: %v", err)
	case <-time.After(1500 * time.Millisecond):
	}
	must(t, held.Close(t.Context()))
	must(t, <-claimed)
}
