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

// A test that waits for the end of a lease has a short one, and loses it on a machine
// that is busy with other things. So it is told again with a longer one, if it failed
// and the machine was seen to be late. The last time counts, however late it was.
var leasesTried = []time.Duration{rota.LeaseMin, 4 * rota.LeaseMin, 16 * rota.LeaseMin}

// byLease tells a test with leases of one length, and again if the machine was too
// slow for that.
func byLease(t *testing.T, open func(*testing.T) *world, tell func(w *world)) {
	t.Helper()
	t.Parallel()
	for i, lease := range leasesTried {
		w := &world{}
		t.Run(lease.String(), func(t *testing.T) {
			w = open(t)
			w.lease, w.excused = lease, i < len(leasesTried)-1
			tell(w)
		})
		if !w.again {
			return
		}
		t.Logf("with a lease of %v it failed on a machine that was late by %v", lease, w.late())
	}
}

// byLeaseOnEachStore does so with each kind of store.
func byLeaseOnEachStore(t *testing.T, tell func(w *world)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { byLease(t, fileWorld, tell) })
	t.Run("postgres", func(t *testing.T) { byLease(t, serverWorld, tell) })
}

// excuse ends a try that failed, if the machine was so late that its leases may have
// been lost by that, and it can be told again.
func (w *world) excuse(what string) {
	w.Helper()
	if !w.excused {
		return
	}
	if late := w.late(); late >= w.lease/4 {
		w.again = true
		w.Skipf("%s; the machine was late by %v", what, late)
	}
}

// late is how much time was lost at most within a lease: to this process, or to its
// calls of the store.
func (w *world) late() time.Duration {
	return max(machine.most(w.began, w.lease), w.calls.most(w.began, w.lease))
}

// Errorf fails the test, unless it is told again.
func (w *world) Errorf(format string, args ...any) {
	w.Helper()
	w.excuse(fmt.Sprintf(format, args...))
	w.T.Errorf(format, args...)
}

// Fatalf fails and ends the test, unless it is told again.
func (w *world) Fatalf(format string, args ...any) {
	w.Helper()
	w.excuse(fmt.Sprintf(format, args...))
	w.T.Fatalf(format, args...)
}

// Error fails the test, unless it is told again.
func (w *world) Error(args ...any) {
	w.Helper()
	w.excuse(fmt.Sprint(args...))
	w.T.Error(args...)
}

// Fatal fails and ends the test, unless it is told again.
func (w *world) Fatal(args ...any) {
	w.Helper()
	w.excuse(fmt.Sprint(args...))
	w.T.Fatal(args...)
}

// rest lets others come so far as nobody signals. It is longer if the machine is late.
func (w *world) rest(d time.Duration) {
	for deadline := time.Now().Add(patience / 2); ; {
		began := time.Now()
		time.Sleep(d)
		if machine.most(began, patience) == 0 || time.Now().After(deadline) {
			return
		}
	}
}

// delays are when time was lost, and how much.
type delays struct {
	mu    sync.Mutex
	list  []delay
	calls map[*time.Time]bool // under way, by when they began
}

type delay struct{ from, to time.Time }

func (d *delays) add(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.list = append(d.list, delay{now.Add(-by), now})
}

// most is the most that was lost within a span, since some time.
func (d *delays) most(since time.Time, span time.Duration) (most time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, first, sum := time.Now(), 0, time.Duration(0)
	list := d.since(since, now)
	for i, one := range list {
		for sum += one.to.Sub(one.from); one.to.Sub(list[first].to) > span; first++ {
			sum -= list[first].to.Sub(list[first].from)
		}
		most = max(most, sum)
		if i+1 < len(list) && list[i+1].from.Before(one.to) { // what was lost twice is counted once
			list[i+1].from = one.to
			list[i+1].to = later(list[i+1].to, one.to)
		}
	}
	return most
}

// since are those that have ended since some time, or go on, by when they began.
func (d *delays) since(at, now time.Time) (list []delay) {
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

// machine is what this process has lost.
var machine = &delays{}

// watchMachine notes when this process is late, for as long as it lives.
func watchMachine() {
	const every, much = 20 * time.Millisecond, 5 * time.Millisecond
	for last := time.Now(); ; {
		time.Sleep(every)
		now := time.Now()
		if late := now.Sub(last) - every; late > much {
			machine.add(late)
		}
		last = now
	}
}

// call notes a call of the store that takes long. The function ends it.
func (d *delays) call() (done func()) {
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

// timed is a store whose calls are timed.
type timed struct {
	rota.Store
	calls *delays
}

// Apply is timed.
func (s *timed) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	defer s.calls.call()()
	return s.Store.Apply(ctx, b)
}

// timedRoll is a roll whose calls are timed.
type timedRoll struct {
	rota.Membership
	calls *delays
}

// Attend is timed.
func (r *timedRoll) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (rota.MembershipState, error) {
	defer r.calls.call()()
	return r.Membership.Heartbeat(ctx, a)
}
