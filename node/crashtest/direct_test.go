//go:build unix

package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestDirectRunRetriedAtOtherServerIsAnswered: a client that has no answer from one
// server sends the request to another with the same key while the run continues.
func TestDirectRunRetriedAtOtherServerIsAnswered(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 2)
	f.startAll()
	body := []byte(`{"type": "ledger", "params": {"behave": "sleep", "for": "1s"}, "wait": "30s"}`)
	type reply struct {
		job api.Job
		err error
	}
	answers := make(chan reply, len(f.servers))
	for i := range f.servers {
		c := f.callerOf(i)
		c.timeout = waitMax
		addr, _ := c.address()
		go func() {
			r := reply{}
			a, err := c.sendOnce(t.Context(), "POST", "http://"+addr+"/api/v1/direct", body, "the same key")
			if r.err = err; err == nil {
				r.err = a.decode(&r.job)
			}
			answers <- r
		}()
		time.Sleep(300 * time.Millisecond)
	}
	var jobs []api.Job
	for deadline := time.After(waitMax); len(jobs) < len(f.servers); {
		select {
		case r := <-answers:
			must(t, r.err)
			jobs = append(jobs, r.job)
		case <-deadline:
			t.Fatal("the run has ended, but a request for it has no answer")
		}
	}
	if jobs[0].ID != jobs[1].ID || jobs[0].State != "completed" || len(f.ledgerOf(jobs[0].ID.ID)) != 2 {
		t.Errorf("two requests with one key do not report one completed run: %+v, %+v", jobs[0], jobs[1])
	}
}

// TestDirectRunsContinueWhenServerIsKilled kills a server that holds a reservation and
// waits for a slot. The reservation must not block direct runs at another server.
func TestDirectRunsContinueWhenServerIsKilled(t *testing.T) {
	t.Parallel()
	retryIfSlow(t, func(t *testing.T, fail failFunc) {
		f := newTestCluster(t, pgtest.Shared(t), 2, "ROTA_WORKERS=1")
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		f.enqueueHeld("open")
		addr, _ := first.address()
		go func() {
			_, _ = f.callerOf(0).sendOnce(t.Context(), "POST", "http://"+addr+"/api/v1/direct", []byte(`{"type": "ledger", "params": {}, "wait": "15s"}`), "")
		}()
		f.waitUntil("the server has a reservation", func() bool {
			list, err := f.readOnlyStore().Reservations(t.Context(), rota.ID{}, 1)
			must(t, err)
			return len(list) == 1
		})
		second.startUntilReady()
		f.ensureKilled(first)
		f.release("open")
		a, err := f.callerOf(1).write(t.Context(), "POST", "/direct", object{"type": "ledger", "params": object{}, "wait": "10s"})
		must(t, err)
		if a.status != http.StatusOK {
			fail(f, "a direct run is not answered within 10s after a server died, with a lease of %s: %d %s", clusterLease, a.status, a.body)
		}
	})
}
