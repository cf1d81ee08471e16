// Package feed keeps what happened lately, in this process, for those who
// follow it.
package eventring

import (
	"crypto/rand"
	"encoding/hex"
	"sync"

	"github.com/rotajobs/rota"
)

// DefaultSize is how many events are kept.
const DefaultSize = 16_384

// Ring is a ring of the newest events, numbered from 1. Numbers belong to one
// life of a process: an event that is no longer kept, or of another life, cannot
// be gone back to, and a follower has to read the rows anew.
type Ring struct {
	incarnation string
	stop        func()

	mu        sync.Mutex
	ring      []rota.Event
	last      uint64 // the number of the newest event
	changed   chan struct{}
	awaited   bool // somebody has taken changed
	listeners map[int]func([]rota.Event)
	next      int // names the next listener
}

// Entry is one event and its number.
type Entry struct {
	Seq uint64
	rota.Event
}

// New follows a store. A size of 0 is DefaultSize.
func New(store rota.Store, size int) *Ring {
	if size == 0 {
		size = DefaultSize
	}
	f := &Ring{
		incarnation: newLife(), ring: make([]rota.Event, size), changed: make(chan struct{}), listeners: map[int]func([]rota.Event){},
	}
	f.stop = store.Watch(f.add)
	return f
}

func newLife() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return hex.EncodeToString(b[:])
}

// Incarnation names this numbering among those of other processes.
func (f *Ring) Incarnation() string { return f.incarnation }

// Publish adds what no store tells.
func (f *Ring) Publish(e rota.Event) { f.add([]rota.Event{e}) }

func (f *Ring) add(events []rota.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		f.last++
		f.ring[f.last%uint64(len(f.ring))] = e
	}
	if f.awaited {
		close(f.changed)
		f.changed, f.awaited = make(chan struct{}), false
	}
	for _, hear := range f.listeners {
		hear(events)
	}
}

// Last is the number of the newest event, 0 if there is none.
func (f *Ring) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// PageMax is how many events are given out at a time, since whoever writes to
// the store waits while they are.
const PageMax = 512

// Page returns the first events after a number, at most so many and at most
// PageMax. Gap says that some of them are no longer kept, or that the number is
// not of this life.
func (f *Ring) Page(seq uint64, limit int) (entries []Entry, gap bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq > f.last {
		return nil, true
	}
	if kept := uint64(len(f.ring)); f.last-seq > kept {
		seq, gap = f.last-kept, true
	}
	end := min(f.last, seq+uint64(min(max(limit, 0), PageMax)))
	entries = make([]Entry, 0, end-seq)
	for seq < end {
		seq++
		entries = append(entries, Entry{seq, f.ring[seq%uint64(len(f.ring))]})
	}
	return entries, gap
}

// Since returns all events after a number, a page at a time. What is gone by the
// time its page comes is a gap, and what was before it is left out.
func (f *Ring) Since(seq uint64) (entries []Entry, gap bool) {
	for end := f.Last(); ; {
		page, lost := f.Page(seq, PageMax)
		if lost {
			entries, gap = nil, true
		}
		entries = append(entries, page...)
		if len(page) < PageMax {
			return entries, gap
		}
		if seq = page[len(page)-1].Seq; seq >= end { // what came meanwhile is for the next time
			return entries, gap
		}
	}
}

// Changed returns a channel that is closed at the next event. Take it before
// asking Since, and nothing is missed.
func (f *Ring) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited = true
	return f.changed
}

// Subscribe calls a function with events as they come, one call after the other. It
// must be quick, and must call neither the store nor the feed.
func (f *Ring) Subscribe(hear func([]rota.Event)) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := f.next
	f.next++
	f.listeners[name] = hear
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, name)
	}
}

// Close follows the store no longer. What is kept can still be read.
func (f *Ring) Close() { f.stop() }
