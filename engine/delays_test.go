package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// A test that waits for the end of a lease uses a short one, which a busy machine may
// lose. If it fails and the machine was measurably slow, it runs again with a longer
// lease. The last attempt counts, however slow the machine was.
var leasesToTry = []time.Duration{rota.LeaseMin, 4 * rota.LeaseMin, 16 * rota.LeaseMin}

// withLease runs a test with a short lease, and again with a longer one if the machine
// was too slow for that.
func withLease(t *testing.T, open func(*testing.T) *harness, test func(h *harness)) {
	t.Helper()
	t.Parallel()
	for i, lease := range leasesToTry {
		h := &harness{}
		t.Run(lease.String(), func(t *testing.T) {
			h = open(t)
			h.lease, h.canRetry = lease, i < len(leasesToTry)-1
			test(h)
		})
		if !h.retry {
			return
		}
		t.Logf("failed with a lease of %v; the machine lost %v", lease, h.lostTime())
	}
}

// withLeaseOnEachStore does so with each kind of store.
func withLeaseOnEachStore(t *testing.T, test func(h *harness)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { withLease(t, sqliteHarness, test) })
	t.Run("postgres", func(t *testing.T) { withLease(t, postgresHarness, test) })
}

// retryIfSlow ends a failed attempt, if the machine was so slow that leases may have been
// lost by that, and another attempt follows.
func (h *harness) retryIfSlow(what string) {
	h.Helper()
	if !h.canRetry {
		return
	}
	if late := h.lostTime(); late >= h.lease/4 {
		h.retry = true
		h.Skipf("%s; the machine lost %v", what, late)
	}
}

// lostTime is the most time lost within one lease: to this process, or in calls of the
// store.
func (h *harness) lostTime() time.Duration {
	return max(processDelays.mostWithin(h.began, h.lease), h.callDelays.mostWithin(h.began, h.lease))
}

// Errorf fails the test, unless it is retried.
func (h *harness) Errorf(format string, args ...any) {
	h.Helper()
	h.retryIfSlow(fmt.Sprintf(format, args...))
	h.T.Errorf(format, args...)
}

// Fatalf fails and ends the test, unless it is retried.
func (h *harness) Fatalf(format string, args ...any) {
	h.Helper()
	h.retryIfSlow(fmt.Sprintf(format, args...))
	h.T.Fatalf(format, args...)
}

// Error fails the test, unless it is retried.
func (h *harness) Error(args ...any) {
	h.Helper()
	h.retryIfSlow(fmt.Sprint(args...))
	h.T.Error(args...)
}

// Fatal fails and ends the test, unless it is retried.
func (h *harness) Fatal(args ...any) {
	h.Helper()
	h.retryIfSlow(fmt.Sprint(args...))
	h.T.Fatal(args...)
}

// pause gives other goroutines time to reach a state that no channel signals. It waits
// longer if the machine is slow.
func (h *harness) pause(d time.Duration) {
	for deadline := time.Now().Add(waitMax / 2); ; {
		began := time.Now()
		time.Sleep(d)
		if processDelays.mostWithin(began, waitMax) == 0 || time.Now().After(deadline) {
			return
		}
	}
}

// delayLog records when time was lost, and how much.
type delayLog struct {
	mu    sync.Mutex
	list  []delay
	calls map[*time.Time]bool // in progress, by start time
}

type delay struct{ from, to time.Time }

func (d *delayLog) add(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.list = append(d.list, delay{now.Add(-by), now})
}

// mostWithin is the most time lost within a span, since some time.
func (d *delayLog) mostWithin(since time.Time, span time.Duration) (most time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, first, sum := time.Now(), 0, time.Duration(0)
	list := d.since(since, now)
	for i, one := range list {
		for sum += one.to.Sub(one.from); one.to.Sub(list[first].to) > span; first++ {
			sum -= list[first].to.Sub(list[first].from)
		}
		most = max(most, sum)
		if i+1 < len(list) && list[i+1].from.Before(one.to) { // count overlapping delays once
			list[i+1].from = one.to
			list[i+1].to = later(list[i+1].to, one.to)
		}
	}
	return most
}

// since returns the delays that ended after some time or are in progress, by start.
func (d *delayLog) since(at, now time.Time) (list []delay) {
	for _, one := range d.list {
		if one.to.After(at) {
			list = append(list, delay{later(one.from, at), one.to})
		}
	}
	for began := range d.calls {
		list = append(list, delay{later(*began, at), now})
	}
	slices.SortFunc(list, func(a, b delay) int { return a.from.Compare(b.from) })
	return list
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// processDelays are the delays of this process.
var processDelays = &delayLog{}

// recordProcessDelays records when this process is scheduled late, until it ends.
func recordProcessDelays() {
	const every, much = 20 * time.Millisecond, 5 * time.Millisecond
	for last := time.Now(); ; {
		time.Sleep(every)
		now := time.Now()
		if late := now.Sub(last) - every; late > much {
			processDelays.add(late)
		}
		last = now
	}
}

// timeCall records a call of the store that takes long. The result ends the call.
func (d *delayLog) timeCall() (done func()) {
	const long = 50 * time.Millisecond
	began := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil {
		d.calls = map[*time.Time]bool{}
	}
	d.calls[&began] = true
	return func() {
		d.mu.Lock()
		delete(d.calls, &began)
		d.mu.Unlock()
		if took := time.Since(began); took > long {
			d.add(took)
		}
	}
}

// timedStore is a store whose calls are timed.
type timedStore struct {
	rota.Store
	calls *delayLog
}

// Unwrap returns the store whose calls are timed.
func (s *timedStore) Unwrap() rota.Store { return s.Store }

// Apply is timed.
func (s *timedStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	defer s.calls.timeCall()()
	return s.Store.Apply(ctx, b)
}

// timedMembership is a membership whose calls are timed.
type timedMembership struct {
	rota.Membership
	calls *delayLog
}

// Heartbeat is timed.
func (r *timedMembership) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (rota.MembershipState, error) {
	defer r.calls.timeCall()()
	return r.Membership.Heartbeat(ctx, a)
}
