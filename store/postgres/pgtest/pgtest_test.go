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
		runVictim()
	}
	Main(m)
}

// envVictim is set in a process that starts a cluster and waits to be killed.
const envVictim = "ROTA_PGTEST_VICTIM"

// runVictim starts a cluster, prints its process id and directory, and waits.
func runVictim() {
	c, err := Start("", Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.Pid(), c.dir.path)
	select {}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// singleValue returns the only value of a statement's result.
func singleValue(t testing.TB, url, sql string) string {
	t.Helper()
	rows := Query(t, url, sql)
	if len(rows) != 1 || len(rows[0]) != 1 {
		t.Fatalf("%s returned %v, want one value", sql, rows)
	}
	return rows[0][0]
}

func TestNewDatabaseCopiesTemplate(t *testing.T) {
	c := Shared(t)
	var filled atomic.Int32
	name := fmt.Sprint("stock_", c.prefix, c.databases.Load()) // unique under -count and in each process
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
		if got := singleValue(t, c.SocketURL(second), "SELECT n FROM pear"); got != "7" {
			t.Errorf("the second copy contains %s, want 7", got)
		}
		conn, err := pgconn.Connect(t.Context(), c.URL(first)) // an open connection must not prevent the drop
		must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	})
	for deadline := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		left := singleValue(t, c.URL(maintenance), "SELECT count(*) FROM pg_database WHERE datname IN ('"+first+"', '"+second+"')")
		if left == "0" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s of the copies still exist", left)
		}
	}
	if filled.Load() != 1 {
		t.Errorf("the template was filled %d times, want once", filled.Load())
	}
}

func TestStartAppliesSettings(t *testing.T) {
	c, err := Start("", Options{Durable: true, Settings: map[string]string{"deadlock_timeout": "50ms"}})
	must(t, err)
	defer c.Close()
	for sql, want := range map[string]string{"SHOW fsync": "on", "SHOW deadlock_timeout": "50ms", "SHOW lc_collate": "C.UTF-8", "SHOW server_encoding": "UTF8"} {
		if got := singleValue(t, c.URL(maintenance), sql); got != want {
			t.Errorf("%s returned %s, want %s", sql, got, want)
		}
	}
	if c.Stop("smart") == nil {
		t.Error("Stop accepts the unknown mode smart")
	}
}

// TestCommittedDataSurvivesRestart checks that committed data survives each way to end the server,
// at the same URL.
func TestCommittedDataSurvivesRestart(t *testing.T) {
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
			t.Errorf("%d: the server has the same process id as before", i)
		}
		if got := singleValue(t, url, "SELECT count(*) FROM pear"); got != fmt.Sprint(i+1) {
			t.Errorf("%d: found %s rows, want %d", i, got, i+1)
		}
	}
}

func TestBouncerPoolsConnectionsByMode(t *testing.T) {
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
				t.Errorf("3 clients used %d backends, want %d", len(backends), want)
			}
		})
	}
}

func TestProxyCutsAndHolds(t *testing.T) {
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
		must(t, ask(conn, timeout))
		return conn
	}
	conn := connect()
	p.Cut()
	if err := ask(conn, timeout); err == nil || pgconn.Timeout(err) {
		t.Errorf("after Cut: %v, want a broken connection", err)
	}
	conn = connect()
	p.Hold()
	if err := ask(conn, 50*time.Millisecond); !pgconn.Timeout(err) {
		t.Errorf("after Hold: %v, want a timeout", err)
	}
	p.Resume()
	connect()
}

func TestMissingProgramNamesPackage(t *testing.T) {
	_, err := findServerProgram("postgres-missing")
	if err == nil || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Errorf("error is %v, want the package to install", err)
	}
}
