//go:build unix

package txcrash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// crash is a database that programs and servers are killed on.
type crash struct {
	*testing.T
	kind     string
	target   string // for the processes under test
	audited  string // for the audit; not through the proxy
	dir      string
	server   *pgtest.Cluster // on PostgreSQL
	proxy    *pgtest.Proxy   // on PostgreSQL
	kills    int
	faults   map[string]int
	outcomes map[string]int
}

// TestRowsAgreeWithJobsAfterKillsOfPostgres kills programs and their PostgreSQL server, and
// cuts connections, some of them between a commit and its answer.
func TestRowsAgreeWithJobsAfterKillsOfPostgres(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	server, err := pgtest.Start("", pgtest.Options{Durable: true})
	must(t, err)
	t.Cleanup(server.Close)
	database := server.NewDatabase(t, "")
	c := &crash{T: t, kind: onPostgres, server: server, proxy: server.Proxy(t), audited: server.URL(database)}
	c.target = c.proxy.URL(database)
	c.run()
	if c.outcomes["lost after"] == 0 {
		t.Error("no answer of a commit was lost")
	}
}

// TestRowsAgreeWithJobsAfterKillsOnSQLite kills programs on a file.
func TestRowsAgreeWithJobsAfterKillsOnSQLite(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rota.db")
	c := &crash{T: t, kind: onSQLite, target: file, audited: file}
	c.run()
}

func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test runs it")
	}
}

// run kills until it has killed often enough, has a last process run all jobs, and checks
// the database.
func (c *crash) run() {
	c.dir, c.faults, c.outcomes = c.TempDir(), map[string]int{}, map[string]int{}
	c.Cleanup(func() {
		if c.Failed() {
			text, _ := os.ReadFile(c.path("log"))
			c.Logf("end of the log:\n%s", text[max(0, len(text)-3_000):])
		}
	})
	c.createTables()
	began, goal := time.Now(), depth.Of(0, 20, 2000)
	var p *running
	for c.kills < goal && !c.Failed() {
		switch {
		case c.server != nil && c.kills%10 == 3:
			p = c.killServer(p, "server killed", c.server.Kill)
		case c.server != nil && c.kills%10 == 7:
			p = c.killServer(p, "server stopped at once", func() { must(c, c.server.Stop(pgtest.Immediate)) })
		default:
			p = c.killOne(p)
		}
		if c.kills%200 == 0 && p == nil {
			c.Logf("%d kills in %s: %v", c.kills, time.Since(began).Round(time.Second), c.faults)
			c.verify()
		}
	}
	if p != nil {
		p.kill()
	}
	killed := time.Now()
	c.drain()
	drained := time.Now()
	c.audit()
	c.Logf("%d kills in %s, then jobs ran for %s and were checked for %s; faults %v", c.kills,
		killed.Sub(began).Round(time.Millisecond), drained.Sub(killed).Round(time.Millisecond), time.Since(drained).Round(time.Millisecond), c.faults)
}

// killOne kills a process or the server. It starts a process if none runs, and returns it if it runs on.
func (c *crash) killOne(p *running) *running {
	c.kills++
	if p == nil {
		if rand.IntN(3) == 0 {
			return c.killAtPoint()
		}
		p = c.start()
	}
	if rand.IntN(8) == 0 {
		p.endsWithin(rand.N(150 * time.Millisecond))
		return c.killProcess(p, "process killed at its start")
	}
	p.awaitReady()
	p.endsWithin(rand.N(400 * time.Millisecond))
	if c.server == nil {
		return c.killProcess(p, "process killed")
	}
	if rand.IntN(4) == 0 {
		c.faults["connections cut"]++
		c.proxy.Cut()
		p.endsWithin(rand.N(200 * time.Millisecond))
	}
	return c.killProcess(p, "process killed")
}

// killServer kills the server while a process runs, and sometimes the process before the server runs again.
func (c *crash) killServer(p *running, fault string, kill func()) *running {
	c.kills++
	if p == nil {
		p = c.start()
	}
	p.awaitReady()
	p.endsWithin(rand.N(300 * time.Millisecond))
	c.faults[fault]++
	kill()
	if rand.IntN(3) == 0 {
		c.killProcess(p, "process killed while the server was down")
		p = nil
	}
	must(c, c.server.Restart(pgtest.Immediate))
	return p
}

func (c *crash) killProcess(p *running, fault string) *running {
	p.kill()
	p.expectKilled()
	c.faults[fault]++
	return nil
}

// killAtPoint has a process kill itself.
func (c *crash) killAtPoint() *running {
	points := killPoints
	if c.server == nil {
		points = points[1:] // a SQLite commit is sent to no server
	}
	point := points[rand.IntN(len(points))]
	p := c.start(fmt.Sprintf("%s=%s:%d", envPoint, point, 1+rand.IntN(10)))
	p.awaitReady()
	p.endsWithin(time.Second)
	p.kill()
	p.expectKilled()
	c.faults["process killed "+point]++
	return nil
}

func (c *crash) path(name string) string { return filepath.Join(c.dir, name) }

// drain has a process run all jobs.
func (c *crash) drain() {
	p := c.start(envDrain + "=1")
	if !p.endsWithin(waitMax) {
		p.signal(syscall.SIGQUIT) // prints the goroutines
		p.endsWithin(time.Second)
		c.Fatal("the last process does not end all jobs")
	}
	if !p.cmd.ProcessState.Success() {
		c.Fatalf("the last process ended with %s", p.cmd.ProcessState)
	}
	if text, err := os.ReadFile(c.path("log")); err != nil || bytes.Contains(text, []byte("DATA RACE")) {
		c.Errorf("a process has a data race, or no log: %v\n%s", err, text)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
