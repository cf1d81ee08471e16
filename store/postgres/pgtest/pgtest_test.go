package pgtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestMain(m *testing.M) {
	if os.Getenv(envVictim) != "" {
		beKilled()
	}
	Main(m)
}

// envVictim tells a process that it is to start a cluster and be killed.
const envVictim = "ROTA_PGTEST_VICTIM"

// beKilled is that process. It says what it has started.
func beKilled() {
	c, err := Start("", Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.Pid(), c.home.dir)
	select {}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// one is the only value that a statement answers with.
func one(t testing.TB, url, sql string) string {
	t.Helper()
	rows := Query(t, url, sql)
	if len(rows) != 1 || len(rows[0]) != 1 {
		t.Fatalf("%s answers with %v", sql, rows)
	}
	return rows[0][0]
}

func TestDatabaseFromTemplate(t *testing.T) {
	c := Shared(t)
	var filled atomic.Int32
	name := fmt.Sprint("stock_", c.prefix, c.databases.Load()) // another one under -count, and in another process
	template := func() string {
		return c.Template(t, name, func(url string) error {
			filled.Add(1)
			_, err := query(url, "CREATE TABLE pear (n int); INSERT INTO pear VALUES (7)")
			return err
		})
	}
	var first, second string
	t.Run("is a copy", func(t *testing.T) {
		first, second = c.NewDatabase(t, template()), c.NewDatabase(t, template())
		Query(t, c.URL(first), "DELETE FROM pear")
		if got := one(t, c.SocketURL(second), "SELECT n FROM pear"); got != "7" {
			t.Errorf("the second copy holds %s", got)
		}
		conn, err := pgconn.Connect(t.Context(), c.URL(first)) // left open, it keeps nothing from being dropped
		must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left := one(t, c.URL(maintenance), "SELECT count(*) FROM pg_database WHERE datname IN ('"+first+"', '"+second+"')")
		if left == "0" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s of the copies are still there", left)
		}
	}
	if filled.Load() != 1 {
		t.Errorf("the template was filled %d times", filled.Load())
	}
}

func TestSettings(t *testing.T) {
	c, err := Start("", Options{Durable: true, Settings: map[string]string{"deadlock_timeout": "50ms"}})
	must(t, err)
	defer c.Close()
	for sql, want := range map[string]string{"SHOW fsync": "on", "SHOW deadlock_timeout": "50ms", "SHOW lc_collate": "C.UTF-8", "SHOW server_encoding": "UTF8"} {
		if got := one(t, c.URL(maintenance), sql); got != want {
			t.Errorf("%s answers with %s, want %s", sql, got, want)
		}
	}
	if c.Stop("smart") == nil {
		t.Error("it stops in a way that is not known")
	}
}

// TestCommittedOutlivesTheServer: in each way to end it what was committed is
// there afterwards, at the same URL.
func TestCommittedOutlivesTheServer(t *testing.T) {
	c, err := Start("", Options{})
	must(t, err)
	defer c.Close()
	url := c.URL(c.NewDatabase(t, ""))
	Query(t, url, "CREATE TABLE pear (n int)")
	for i, end := range []func() error{
		func() error { return c.Restart(Fast) },
		func() error { return c.Restart(Immediate) },
		func() error { c.Kill(); return c.Restart(Fast) },
	} {
		Query(t, url, "INSERT INTO pear VALUES (1)")
		before := c.Pid()
		must(t, end())
		if c.Pid() == before {
			t.Errorf("%d: it is the same server as before", i)
		}
		if got := one(t, url, "SELECT count(*) FROM pear"); got != fmt.Sprint(i+1) {
			t.Errorf("%d: %s rows are there", i, got)
		}
	}
}

func TestBouncerSharesConnections(t *testing.T) {
	c := Shared(t)
	database := c.NewDatabase(t, "")
	for mode, want := range map[string]int{Transaction: 1, Session: 3} {
		t.Run(mode, func(t *testing.T) {
			b := c.Bouncer(t, mode)
			backends := map[string]bool{}
			for range 3 {
				conn, err := pgconn.Connect(t.Context(), b.URL(database))
				must(t, err)
				t.Cleanup(func() { _ = conn.Close(context.Background()) })
				results, err := conn.Exec(t.Context(), "SELECT pg_backend_pid()").ReadAll()
				must(t, err)
				backends[string(results[0].Rows[0][0])] = true
			}
			if len(backends) != want {
				t.Errorf("3 clients have had %d connections, want %d", len(backends), want)
			}
		})
	}
}

func TestProxyFails(t *testing.T) {
	c := Shared(t)
	p := c.Proxy(t)
	url := p.URL(maintenance)
	ask := func(conn *pgconn.PgConn, patience time.Duration) error {
		ctx, done := context.WithTimeout(t.Context(), patience)
		defer done()
		_, err := conn.Exec(ctx, "SELECT 1").ReadAll()
		return err
	}
	connect := func() *pgconn.PgConn {
		conn, err := pgconn.Connect(t.Context(), url)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		must(t, ask(conn, patience))
		return conn
	}
	conn := connect()
	p.Cut()
	if err := ask(conn, patience); err == nil || pgconn.Timeout(err) {
		t.Errorf("cut off, it answers with %v", err)
	}
	conn = connect()
	p.Hold()
	if err := ask(conn, 50*time.Millisecond); !pgconn.Timeout(err) {
		t.Errorf("held, it answers with %v", err)
	}
	p.Heal()
	connect()
}

func TestMissingProgramIsNamed(t *testing.T) {
	_, err := serverProgram("postgres-that-nobody-has")
	if err == nil || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Errorf("answered with %v", err)
	}
}
