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

func newFeed(t *testing.T, size int) *eventring.Ring {
	t.Helper()
	f := eventring.New(newStore(t), size)
	t.Cleanup(f.Close)
	return f
}

// publish adds events whose details are their numbers.
func publish(f *eventring.Ring, from, to int) {
	for n := from; n <= to; n++ {
		f.Publish(rota.Event{Kind: rota.EventGroupFinished, Detail: strconv.Itoa(n)})
	}
}

// wants checks that entries are those from one number to another, in order.
func wants(t *testing.T, entries []eventring.Entry, from, to int) {
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

func TestAFeedHasWhatHappensInTheStore(t *testing.T) {
	store := newStore(t)
	enqueue(t, store, 1) // before its time
	f := eventring.New(store, 0)
	defer f.Close()
	if entries, gap := f.Since(0); len(entries) != 0 || gap || f.Last() != 0 {
		t.Errorf("at first: %v, %t, %d", entries, gap, f.Last())
	}
	enqueue(t, store, 3)
	entries, gap := f.Since(0)
	if len(entries) != 3 || gap || f.Last() != 3 || entries[2].Seq != 3 || entries[0].Kind != rota.EventJobEnqueued {
		t.Errorf("%v, %t, %d", entries, gap, f.Last())
	}
	f.Close()
	enqueue(t, store, 1)
	if entries, gap := f.Since(0); len(entries) != 3 || gap {
		t.Errorf("after it was closed: %v, %t", entries, gap)
	}
}

func TestSinceGivesWhatCameAfter(t *testing.T) {
	f := newFeed(t, 10)
	publish(f, 1, 7)
	for since := range 8 {
		entries, gap := f.Since(uint64(since))
		wants(t, entries, since+1, 7)
		if gap {
			t.Errorf("since %d: a gap", since)
		}
	}
}

func TestAPageIsBounded(t *testing.T) {
	f := newFeed(t, 2000)
	publish(f, 1, 1300)
	for _, limit := range []int{0, 1, 100, eventring.PageMax, eventring.PageMax + 1, 5000} {
		want := min(limit, eventring.PageMax)
		entries, gap := f.Page(7, limit)
		wants(t, entries, 8, 7+want)
		if gap {
			t.Errorf("up to %d: a gap", limit)
		}
	}
	entries, gap := f.Since(0) // page after page
	wants(t, entries, 1, 1300)
	if gap {
		t.Error("a gap")
	}
	publish(f, 1301, 3000)
	if entries, gap = f.Page(0, 10); !gap {
		t.Error("no gap, though the first thousand are gone")
	}
	wants(t, entries, 1001, 1010)
}

func TestAFeedForgetsTheOldestAndSaysSo(t *testing.T) {
	f := newFeed(t, 10)
	publish(f, 1, 10)
	if entries, gap := f.Since(0); gap {
		t.Error("a gap in a ring that is just full")
	} else {
		wants(t, entries, 1, 10)
	}
	publish(f, 11, 36)
	entries, gap := f.Since(25)
	wants(t, entries, 27, 36)
	if !gap {
		t.Error("no gap, though 26 is gone")
	}
	entries, gap = f.Since(26)
	wants(t, entries, 27, 36)
	if gap {
		t.Error("a gap, though all after 26 are there")
	}
}

func TestANumberOfAnotherLifeIsAGap(t *testing.T) {
	f := newFeed(t, 10)
	publish(f, 1, 3)
	if entries, gap := f.Since(4); !gap || len(entries) != 0 {
		t.Errorf("%v, %t", entries, gap)
	}
	if other := newFeed(t, 10); other.Incarnation() == f.Incarnation() || f.Incarnation() == "" {
		t.Errorf("lives %q and %q", f.Incarnation(), other.Incarnation())
	}
}

func TestWhatSinceGaveIsTheCallers(t *testing.T) {
	f := newFeed(t, 2)
	publish(f, 1, 2)
	entries, _ := f.Since(0)
	publish(f, 3, 6)
	wants(t, entries, 1, 2)
}

func TestABatchLargerThanTheRingKeepsItsEnd(t *testing.T) {
	store := newStore(t)
	f := eventring.New(store, 4)
	defer f.Close()
	enqueue(t, store, 11)
	if entries, gap := f.Since(0); len(entries) != 4 || !gap || entries[0].Seq != 8 || entries[3].Seq != 11 {
		t.Errorf("%v, %t", entries, gap)
	}
}

func TestChangedIsClosedAtTheNextEventForAllWhoWait(t *testing.T) {
	f := newFeed(t, 10)
	publish(f, 1, 1)
	one, two := f.Changed(), f.Changed()
	select {
	case <-one:
		t.Fatal("it is closed by what came before")
	default:
	}
	publish(f, 2, 2)
	<-one
	<-two
	select {
	case <-f.Changed():
		t.Fatal("the next one is closed already")
	default:
	}
}

func TestListenersHearEachEventOnceAndInOrder(t *testing.T) {
	f := newFeed(t, 2)
	var one, two []string
	stopOne := f.Subscribe(func(events []rota.Event) {
		for _, e := range events {
			one = append(one, e.Detail)
		}
	})
	defer f.Subscribe(func(events []rota.Event) {
		for _, e := range events {
			two = append(two, e.Detail)
		}
	})()
	publish(f, 1, 3)
	stopOne()
	stopOne() // is harmless
	publish(f, 4, 5)
	if len(one) != 3 || len(two) != 5 || one[2] != "3" || two[4] != "5" {
		t.Errorf("heard %q and %q", one, two)
	}
}

// Followers who take Changed before Since miss nothing, however many write.
func TestFollowersMissNothing(t *testing.T) {
	f := newFeed(t, 0)
	const writers, each, followers = 4, 500, 4
	var all sync.WaitGroup
	for range followers {
		all.Go(func() {
			for seq := uint64(0); seq < writers*each; {
				changed := f.Changed()
				entries, gap := f.Since(seq)
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
					t.Errorf("waited in vain after %d", seq)
					return
				}
			}
		})
	}
	for range writers {
		all.Go(func() { publish(f, 1, each) })
	}
	for range 2 { // listeners come and go meanwhile
		all.Go(func() {
			for range 100 {
				f.Subscribe(func([]rota.Event) {})()
			}
		})
	}
	all.Wait()
	if f.Last() != writers*each {
		t.Errorf("%d events", f.Last())
	}
}
