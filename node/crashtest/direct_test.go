//go:build unix

package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestDirectRunRetriedAtOtherServerIsAnswered: a client that gets no answer from one
// server repeats the request at another with the same key while the run continues.
func TestDirectRunRetriedAtOtherServerIsAnswered(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 2)
	f.startAll()
	body := []byte(`{"type": "ledger", "params": {"behave": "sleep", "for": "1s"}, "wait": "30s"}`)
	type heard struct {
		job httpapi.Job
		err error
	}
	answers := make(chan heard, len(f.servers))
	for i := range f.servers {
		c := f.of(i)
		c.patience = waitMax
		addr, _ := c.where()
		go func() {
			h := heard{}
			a, err := c.once(t.Context(), "POST", "http://"+addr+"/api/v1/direct", body, "the same key")
			if h.err = err; err == nil {
				h.err = a.into(&h.job)
			}
			answers <- h
		}()
		time.Sleep(300 * time.Millisecond)
	}
	var jobs []httpapi.Job
	for deadline := time.After(waitMax); len(jobs) < len(f.servers); {
		select {
		case h := <-answers:
			must(t, h.err)
			jobs = append(jobs, h.job)
		case <-deadline:
			t.Fatal("the run has ended, but a request for it has no answer")
		}
	}
	if jobs[0].ID != jobs[1].ID || jobs[0].State != "completed" || len(f.ledgerOf(jobs[0].ID.ID)) != 2 {
		t.Errorf("two requests with one key made two runs: %+v, %+v", jobs[0], jobs[1])
	}
}

// TestDirectRunsContinueWhenServerIsKilled kills a server that waits for a slot.
func TestDirectRunsContinueWhenServerIsKilled(t *testing.T) {
	t.Parallel()
	retryIfSlow(t, func(t *testing.T, fail failFunc) {
		f := newTestCluster(t, pgtest.Shared(t), 2, "ROTA_WORKERS=1")
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		f.enqueueHeld("open")
		addr, _ := first.where()
		go func() {
			_, _ = f.of(0).once(t.Context(), "POST", "http://"+addr+"/api/v1/direct", []byte(`{"type": "ledger", "params": {}, "wait": "15s"}`), "")
		}()
		f.until("it has reserved", func() bool {
			list, err := f.reader().Reservations(t.Context(), rota.ID{}, 1)
			must(t, err)
			return len(list) == 1
		})
		second.startUntilReady()
		f.ensureKilled(first)
		f.release("open")
		a, err := f.of(1).write(t.Context(), "POST", "/direct", object{"type": "ledger", "params": object{}, "wait": "10s"})
		must(t, err)
		if a.status != http.StatusOK {
			fail(f, "10 seconds after a server died, with a lease of %s: %d %s", clusterLease, a.status, a.body)
		}
	})
}
