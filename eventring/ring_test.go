package eventring_test

import (
	"context"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/store/sqlite"
)

func newStore(t *testing.T) rota.Store {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func newRing(t *testing.T, size int) *eventring.Ring {
	t.Helper()
	r := eventring.New(newStore(t), size)
	t.Cleanup(r.Close)
	return r
}

// publish adds events whose details are their numbers.
func publish(r *eventring.Ring, from, to int) {
	for n := from; n <= to; n++ {
		r.Publish(rota.Event{Kind: rota.EventGroupFinished, Detail: strconv.Itoa(n)})
	}
}

// checkEntries checks that entries are those from one number to another, in order.
func checkEntries(t *testing.T, entries []eventring.Entry, from, to int) {
	t.Helper()
	if len(entries) != to-from+1 {
		t.Fatalf("%d entries, want %d to %d", len(entries), from, to)
	}
	for i, e := range entries {
		if n := from + i; e.Seq != uint64(n) || e.Detail != strconv.Itoa(n) {
			t.Errorf("entry %d is %d %q, want %d", i, e.Seq, e.Detail, n)
		}
	}
}

func enqueue(t *testing.T, store rota.Store, n int) {
	t.Helper()
	jobs := make([]rota.NewJob, n)
	for i := range jobs {
		jobs[i].Type = "work"
	}
	if _, err := rota.Do[*rota.Enqueued](context.Background(), store, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
}

func TestRingHasEventsOfStore(t *testing.T) {
	store := newStore(t)
	enqueue(t, store, 1) // before the ring exists
	r := eventring.New(store, 0)
	defer r.Close()
	if entries, gap := r.Since(0); len(entries) != 0 || gap || r.Last() != 0 {
		t.Errorf("at first: %v, %t, %d", entries, gap, r.Last())
	}
	enqueue(t, store, 3)
	entries, gap := r.Since(0)
	if len(entries) != 3 || gap || r.Last() != 3 || entries[2].Seq != 3 || entries[0].Kind != rota.EventJobEnqueued {
		t.Errorf("%v, %t, %d", entries, gap, r.Last())
	}
	r.Close()
	enqueue(t, store, 1)
	if entries, gap := r.Since(0); len(entries) != 3 || gap {
		t.Errorf("after it was closed: %v, %t", entries, gap)
	}
}

func TestSinceReturnsLaterEvents(t *testing.T) {
	r := newRing(t, 10)
	publish(r, 1, 7)
	for since := range 8 {
		entries, gap := r.Since(uint64(since))
		checkEntries(t, entries, since+1, 7)
		if gap {
			t.Errorf("since %d: a gap", since)
		}
	}
}

func TestPageIsBounded(t *testing.T) {
	r := newRing(t, 2000)
	publish(r, 1, 1300)
	for _, limit := range []int{0, 1, 100, eventring.PageMax, eventring.PageMax + 1, 5000} {
		want := min(limit, eventring.PageMax)
		entries, gap := r.Page(7, limit)
		checkEntries(t, entries, 8, 7+want)
		if gap {
			t.Errorf("up to %d: a gap", limit)
		}
	}
	entries, gap := r.Since(0) // several pages
	checkEntries(t, entries, 1, 1300)
	if gap {
		t.Error("a gap")
	}
	publish(r, 1301, 3000)
	if entries, gap = r.Page(0, 10); !gap {
		t.Error("no gap, though the first thousand are gone")
	}
	checkEntries(t, entries, 1001, 1010)
}

func TestFullRingDropsOldestAndReportsGap(t *testing.T) {
	r := newRing(t, 10)
	publish(r, 1, 10)
	if entries, gap := r.Since(0); gap {
		t.Error("a gap in a ring that is just full")
	} else {
		checkEntries(t, entries, 1, 10)
	}
	publish(r, 11, 36)
	entries, gap := r.Since(25)
	checkEntries(t, entries, 27, 36)
	if !gap {
		t.Error("no gap, though 26 is gone")
	}
	entries, gap = r.Since(26)
	checkEntries(t, entries, 27, 36)
	if gap {
		t.Error("a gap, though all after 26 are there")
	}
}

func TestNumberOfOtherIncarnationIsGap(t *testing.T) {
	r := newRing(t, 10)
	publish(r, 1, 3)
	if entries, gap := r.Since(4); !gap || len(entries) != 0 {
		t.Errorf("%v, %t", entries, gap)
	}
	if other := newRing(t, 10); other.Incarnation() == r.Incarnation() || r.Incarnation() == "" {
		t.Errorf("incarnations %q and %q", r.Incarnation(), other.Incarnation())
	}
}

func TestEntriesOfSinceStayUnchanged(t *testing.T) {
	r := newRing(t, 2)
	publish(r, 1, 2)
	entries, _ := r.Since(0)
	publish(r, 3, 6)
	checkEntries(t, entries, 1, 2)
}

func TestBatchLargerThanRingKeepsItsEnd(t *testing.T) {
	store := newStore(t)
	r := eventring.New(store, 4)
	defer r.Close()
	enqueue(t, store, 11)
	if entries, gap := r.Since(0); len(entries) != 4 || !gap || entries[0].Seq != 8 || entries[3].Seq != 11 {
		t.Errorf("%v, %t", entries, gap)
	}
}

func TestChangedIsClosedAtNextEventForAllCallers(t *testing.T) {
	r := newRing(t, 10)
	publish(r, 1, 1)
	one, two := r.Changed(), r.Changed()
	select {
	case <-one:
		t.Fatal("an earlier event has closed it")
	default:
	}
	publish(r, 2, 2)
	<-one
	<-two
	select {
	case <-r.Changed():
		t.Fatal("the next one is closed already")
	default:
	}
}

func TestSubscribersReceiveEachEventOnceInOrder(t *testing.T) {
	r := newRing(t, 2)
	var one, two []string
	stopOne := r.Subscribe(func(events []rota.Event) {
		for _, e := range events {
			one = append(one, e.Detail)
		}
	})
	defer r.Subscribe(func(events []rota.Event) {
		for _, e := range events {
			two = append(two, e.Detail)
		}
	})()
	publish(r, 1, 3)
	stopOne()
	stopOne() // a second call does nothing
	publish(r, 4, 5)
	if len(one) != 3 || len(two) != 5 || one[2] != "3" || two[4] != "5" {
		t.Errorf("received %q and %q", one, two)
	}
}

// Readers that take Changed before Since miss nothing, however many goroutines publish.
func TestReadersMissNoEventWhileOthersPublish(t *testing.T) {
	r := newRing(t, 0)
	const writers, each, followers = 4, 500, 4
	var all sync.WaitGroup
	for range followers {
		all.Go(func() {
			for seq := uint64(0); seq < writers*each; {
				changed := r.Changed()
				entries, gap := r.Since(seq)
				if gap {
					t.Error("a gap")
					return
				}
				for _, e := range entries {
					if seq++; e.Seq != seq {
						t.Errorf("number %d after %d", e.Seq, seq-1)
						return
					}
				}
				if len(entries) > 0 {
					continue
				}
				select {
				case <-changed:
				case <-time.After(time.Minute):
					t.Errorf("no event within a minute after %d", seq)
					return
				}
			}
		})
	}
	for range writers {
		all.Go(func() { publish(r, 1, each) })
	}
	for range 2 { // subscribers are added and removed meanwhile
		all.Go(func() {
			for range 100 {
				r.Subscribe(func([]rota.Event) {})()
			}
		})
	}
	all.Wait()
	if r.Last() != writers*each {
		t.Errorf("%d events", r.Last())
	}
}
