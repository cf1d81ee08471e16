// Package drivertest tests the SQL port with unmodified clients: psql, pgx, JDBC, psycopg and
// pgbench. Where PostgreSQL supports the same query, the tests compare its answers.
package drivertest

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rotajobs/rota/node"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { pgtest.Main(m) }

// clientTimeout limits operations that usually take seconds.
const clientTimeout = 60 * time.Second

// server is where a client connects to.
type server struct {
	host, port, user, database, password string

	options string // of every session
}

// startNode runs a node of its own for a test.
func startNode(t testing.TB) *server {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	n, err := node.Open(t.Context(), node.Config{
		Data: data, HTTP: "127.0.0.1:0", SQL: "127.0.0.1:0", Name: "node-1", Version: "1.2.3", Workers: 4, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		n.Cut()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(clientTimeout):
			t.Error("the node does not end")
		}
	})
	select {
	case <-n.Ready():
	case <-time.After(clientTimeout):
		t.Fatal("the node does not become ready")
	}
	token, err := os.ReadFile(filepath.Join(data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(n.Addresses()["sql"])
	if err != nil {
		t.Fatal(err)
	}
	return &server{host: host, port: port, user: "admin", database: "rota", password: strings.TrimSpace(string(token))}
}

// startWithHistory is a node with some history.
func startWithHistory(t testing.TB) *server {
	t.Helper()
	s := startNode(t)
	s.exec(t, history...)
	s.await(t, "SELECT count(*) = 4 FROM sys.job_runs WHERE state IN ('COMPLETED', 'FAILED') AND job_name IN ('tick', 'broken')")
	s.await(t, "SELECT count(*) = 1 FROM sys.job_runs WHERE state = 'RUNNING'")
	return s
}

// history has jobs of every sort of schedule, and runs of every state but one. The nightly
// job starts in 2099: otherwise it comes due before tick, or while a test counts the runs,
// when the tests run at night.
var history = []string{
	`CREATE JOB nightly SCHEDULE = CRON '0 2 * * *' STARTS '2099-01-01 00:00' TIME ZONE 'Europe/Berlin' MAX_RETRIES = 5 DESCRIPTION = 'what the night is for' AS 'SELECT 1'`,
	`CREATE JOB tick SCHEDULE = EVERY 1 HOUR PRIORITY = 7 AS CALL noop()`,
	`CREATE JOB long SCHEDULE = EVERY 1 DAY AS CALL sleep() WITH PARAMS '{"for": "1h"}'`,
	`CREATE JOB broken SCHEDULE = EVERY 2 HOURS DEPENDS ON tick MAX_RETRIES = 0 AS CALL fail() WITH PARAMS '{"message": "it broke", "permanent": true}'`,
	`CREATE JOB once SCHEDULE = AT '2099-01-01 00:00' DISABLED AS 'SELECT 2'`,
	`EXECUTE JOB tick`, `EXECUTE JOB tick`, `EXECUTE JOB tick`,
	`EXECUTE JOB broken`, `EXECUTE JOB long`,
}

func (s *server) url(options ...string) string {
	u := "postgres://" + s.user
	if s.password != "" {
		u += ":" + s.password
	}
	if s.options != "" {
		options = append(options, "options="+strings.ReplaceAll(url.QueryEscape(s.options), "+", "%20"))
	}
	return u + "@" + net.JoinHostPort(s.host, s.port) + "/" + s.database + "?" + strings.Join(append([]string{"sslmode=disable"}, options...), "&")
}

func (s *server) connect(t testing.TB, options ...string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url(options...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// exec runs statements.
func (s *server) exec(t testing.TB, statements ...string) {
	t.Helper()
	conn := s.connect(t)
	defer conn.Close(t.Context())
	for _, text := range statements {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// await waits until a query answers true.
func (s *server) await(t testing.TB, question string) {
	t.Helper()
	conn := s.connect(t)
	defer conn.Close(t.Context())
	for end := time.Now().Add(clientTimeout); ; time.Sleep(10 * time.Millisecond) {
		var is bool
		if err := conn.QueryRow(t.Context(), question).Scan(&is); err != nil {
			t.Fatal(err)
		}
		if is {
			return
		}
		if time.Now().After(end) {
			t.Fatal("timeout waiting for:", question)
		}
	}
}

// findProgram returns the path of a program. A missing program fails the test, since a skipped
// test checks nothing.
func findProgram(t testing.TB, name, packages string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not on this machine; install it: make drivers postgres, or apt-get install %s", name, packages)
	}
	return path
}

// run runs a program against a server and returns all that it wrote.
func (s *server) run(t testing.TB, input, path string, args ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, path, args...)
	command.Stdin = strings.NewReader(input)
	command.Env = append(
		withoutPG(os.Environ()), "PGHOST="+s.host, "PGPORT="+s.port, "PGUSER="+s.user, "PGDATABASE="+s.database, "PGPASSWORD="+s.password,
		"PGSSLMODE=disable", "PGOPTIONS="+s.options, "LC_ALL=C.UTF-8", "TZ=UTC", "HOME="+t.TempDir(), "PSQL_PAGER=", "PAGER=",
	)
	text, err := command.CombinedOutput()
	return string(text), err
}

// withoutPG removes the variables that configure connections of PostgreSQL clients.
func withoutPG(env []string) (rest []string) {
	for _, one := range env {
		if !strings.HasPrefix(one, "PG") && !strings.HasPrefix(one, "PSQL") {
			rest = append(rest, one)
		}
	}
	return rest
}
