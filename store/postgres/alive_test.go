//go:build unix

package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
)

// TestConnectionsThatWereEndedAreNotUsed: whoever comes next does not hear of it,
// however shortly before they were in use.
func TestConnectionsThatWereEndedAreNotUsed(t *testing.T) {
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

// TestWhoIsAskedWhetherItIsThere: who was idle for long, and of whom this machine
// has heard that it is not.
func TestWhoIsAskedWhetherItIsThere(t *testing.T) {
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
