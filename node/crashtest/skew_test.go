//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// Each of these tests is about a server whose clock is wrong. What it does goes by
// the database's.

// TestScheduleStartsByDatabaseClock: where it is declared, the clock is wrong.
func TestScheduleStartsByDatabaseClock(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 1)
	f.skew(f.servers[0], skewMost)
	f.startAll()
	c, declared := f.of(0), time.Now()
	c.must("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	c.must("POST", "/schedules", object{"name": "tick", "template": "tick", "every": "1s"}, nil)
	f.until("it was fired", func() bool {
		var list httpapi.List[httpapi.Job]
		c.get("/jobs?schedule=tick&limit=5", &list)
		return len(list.Items) > 0
	})
	if late := time.Since(declared); late > 3*time.Second {
		t.Errorf("every second, and the first time after %s", late.Round(100*time.Millisecond))
	}
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }
	f.skew(f.servers[0], -skewMost)
	time.Sleep(2 * time.Second)
	a, err := c.write(t.Context(), "POST", "/schedules/tick/backfill", object{"from": ago(3 * time.Second), "to": ago(time.Second)})
	must(t, err)
	if a.status >= 300 {
		t.Errorf("a backfill of what has passed is refused: %s", a.body)
	}
}

// TestRateLimitUsesDatabaseClock: the clock of the server that starts is wrong.
func TestRateLimitUsesDatabaseClock(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{skewMost, -skewMost} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			f := newTestCluster(t, pgtest.Shared(t), 1)
			f.skew(f.servers[0], by)
			f.startAll()
			c := f.of(0)
			c.must("PUT", "/limits", object{"types": object{narrow: object{"rate": "4/1s"}}}, nil)
			batches := c.batches()
			began := time.Now()
			for range 16 {
				c.must("POST", "/jobs", object{"type": narrow, "params": object{}}, nil)
			}
			c.waitUntilIdle()
			took, sent := time.Since(began), c.batches()-batches
			t.Logf("16 jobs at 4 a second took %s and %d batches", took.Round(100*time.Millisecond), sent)
			if took > 6*time.Second || sent > 400 {
				t.Errorf("with a clock that is wrong by %s they took %s and %d batches", by, took.Round(100*time.Millisecond), sent)
			}
		})
	}
}

// batches is how often the server has written to its store.
func (c *caller) batches() (n int) {
	c.serverDir.Helper()
	addr, _ := c.where()
	a, err := c.once(c.serverDir.Context(), "GET", "http://"+addr+"/metrics", nil, "")
	must(c.serverDir, err)
	_, text, _ := strings.Cut(string(a.body), "\nrota_store_apply_seconds_count ")
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
		c.serverDir.Fatalf("%v in %s", err, a.body)
	}
	return n
}
