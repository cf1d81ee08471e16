//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// In each of these tests the clock of the server is wrong. The server must use the clock
// of the database.

// TestScheduleStartsByDatabaseClock declares and backfills a schedule at a server whose
// clock is wrong.
func TestScheduleStartsByDatabaseClock(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 1)
	f.setClockOffset(f.servers[0], skewMax)
	f.startAll()
	c, declared := f.callerOf(0), time.Now()
	c.mustWrite("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	c.mustWrite("POST", "/schedules", object{"name": "tick", "template": "tick", "every": "1s"}, nil)
	f.waitUntil("the schedule has fired", func() bool {
		var list api.List[api.Job]
		c.mustRead("/jobs?schedule=tick&limit=5", &list)
		return len(list.Items) > 0
	})
	if late := time.Since(declared); late > 3*time.Second {
		t.Errorf("a schedule of every second fired for the first time after %s", late.Round(100*time.Millisecond))
	}
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }
	f.setClockOffset(f.servers[0], -skewMax)
	time.Sleep(2 * time.Second)
	a, err := c.write(t.Context(), "POST", "/schedules/tick/backfill", object{"from": ago(3 * time.Second), "to": ago(time.Second)})
	must(t, err)
	if a.status >= 300 {
		t.Errorf("a backfill of past times is refused: %s", a.body)
	}
}

// TestRateLimitUsesDatabaseClock applies a rate limit at a server whose clock is wrong.
func TestRateLimitUsesDatabaseClock(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{skewMax, -skewMax} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			f := newTestCluster(t, pgtest.Shared(t), 1)
			f.setClockOffset(f.servers[0], by)
			f.startAll()
			c := f.callerOf(0)
			c.mustWrite("PUT", "/limits", object{"types": object{limitedType: object{"rate": "4/1s"}}}, nil)
			batches := c.appliedBatches()
			began := time.Now()
			for range 16 {
				c.mustWrite("POST", "/jobs", object{"type": limitedType, "params": object{}}, nil)
			}
			c.waitUntilIdle()
			took, sent := time.Since(began), c.appliedBatches()-batches
			t.Logf("16 jobs at 4 a second took %s and %d batches", took.Round(100*time.Millisecond), sent)
			if took > 6*time.Second || sent > 400 {
				t.Errorf("with a clock that is wrong by %s the jobs took %s and %d batches", by, took.Round(100*time.Millisecond), sent)
			}
		})
	}
}

// appliedBatches returns how many batches the server has sent to its store.
func (c *caller) appliedBatches() (n int) {
	c.serverDir.Helper()
	addr, _ := c.address()
	a, err := c.sendOnce(c.serverDir.Context(), "GET", "http://"+addr+"/metrics", nil, "")
	must(c.serverDir, err)
	_, text, _ := strings.Cut(string(a.body), "\nrota_store_apply_seconds_count ")
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
		c.serverDir.Fatalf("%v in %s", err, a.body)
	}
	return n
}
