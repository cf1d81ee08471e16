// Package eventring keeps the newest events of this process in a ring, numbered, so
// that subscribers and readers can continue where they stopped. While it has readers, it
// also has the events of the other processes that share the store.
package eventring

import (
	"crypto/rand"
	"encoding/hex"
	"sync"

	"github.com/rotajobs/rota"
)

// DefaultSize is how many events a ring keeps.
const DefaultSize = 16_384

// Ring is a ring of the newest events, numbered from 1. The numbers belong to one
// incarnation of the process: a reader cannot continue after an event that the ring no
// longer has, or after one of another incarnation, and has to read the rows again.
type Ring struct {
	incarnation string
	stop        func()

	mu          sync.Mutex
	ring        []rota.Event
	last        uint64 // number of the newest event
	changed     chan struct{}
	awaited     bool   // a caller has taken changed
	local       uint64 // events of this process so far
	subscribers map[int]func([]rota.Event)
	stops       map[int]func(rota.ID)
	next        int // id of the next subscriber

	others others
}

// Reset is the kind of an entry that says that events of other processes are missing
// before it. Its Detail is the reason. It is in the ring, so that a reader that continues
// after an earlier event learns it, too.
const Reset rota.EventKind = "reset"

// Entry is one event and its number.
type Entry struct {
	Seq uint64
	rota.Event
}

// New returns a ring of the events of a store. If other processes share the store, the ring has
// their stops and, while it has readers, their events. A size of 0 is DefaultSize.
func New(store rota.Store, size int) *Ring {
	if size == 0 {
		size = DefaultSize
	}
	r := &Ring{
		incarnation: newIncarnation(), ring: make([]rota.Event, size), changed: make(chan struct{}),
		subscribers: map[int]func([]rota.Event){}, stops: map[int]func(rota.ID){},
	}
	r.others.keep = readerKeep
	if shared, is := rota.StoreAs[rota.SharedEvents](store); is {
		r.share(shared)
	}
	r.stop = store.Watch(r.add)
	return r
}

func newIncarnation() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return hex.EncodeToString(b[:])
}

// Incarnation distinguishes these numbers from those of other processes.
func (r *Ring) Incarnation() string { return r.incarnation }

// Publish adds an event that does not come from the store, and sends it to the other
// processes.
func (r *Ring) Publish(e rota.Event) {
	r.add([]rota.Event{e})
	if r.others.shared != nil {
		r.others.shared.Share([]rota.Event{e})
	}
}

// add adds events of this process.
func (r *Ring) add(events []rota.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.local += uint64(len(events))
	r.append(events)
	for _, handle := range r.subscribers {
		handle(events)
	}
	for i := range events {
		if events[i].Kind == rota.EventJobStopping {
			r.stopJob(events[i].JobID)
		}
	}
}

// append writes events into the ring and wakes the readers.
func (r *Ring) append(events []rota.Event) {
	for _, e := range events {
		r.put(e)
		if e.Kind == rota.EventNodeLeft && e.Detail == rota.NodeLeaseEnded {
			r.put(rota.Event{Kind: Reset, At: e.At, Detail: "node " + e.Name + " ended, perhaps before it had sent its last events"})
		}
	}
	if r.awaited {
		close(r.changed)
		r.changed, r.awaited = make(chan struct{}), false
	}
}

func (r *Ring) put(e rota.Event) {
	r.last++
	r.ring[r.last%uint64(len(r.ring))] = e
}

// Local is how many events of this process the ring has received.
func (r *Ring) Local() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.local
}

// Last is the number of the newest event, 0 if there is none.
func (r *Ring) Last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// PageMax is how many events are returned at a time, since writers of the store wait
// meanwhile.
const PageMax = 512

// Page returns the first events after a number, at most limit and at most PageMax. gap
// reports that some of them are no longer in the ring, or that the number belongs to
// another incarnation.
func (r *Ring) Page(seq uint64, limit int) (entries []Entry, gap bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq > r.last {
		return nil, true
	}
	if kept := uint64(len(r.ring)); r.last-seq > kept {
		seq, gap = r.last-kept, true
	}
	end := min(r.last, seq+uint64(min(max(limit, 0), PageMax)))
	entries = make([]Entry, 0, end-seq)
	for seq < end {
		seq++
		entries = append(entries, Entry{seq, r.ring[seq%uint64(len(r.ring))]})
	}
	return entries, gap
}

// Since returns all events after a number, a page at a time. Events dropped before their
// page is read are a gap, and the events before the gap are omitted.
func (r *Ring) Since(seq uint64) (entries []Entry, gap bool) {
	for end := r.Last(); ; {
		page, lost := r.Page(seq, PageMax)
		if lost {
			entries, gap = nil, true
		}
		entries = append(entries, page...)
		if len(page) < PageMax {
			return entries, gap
		}
		if seq = page[len(page)-1].Seq; seq >= end { // events that arrived meanwhile are for the next call
			return entries, gap
		}
	}
}

// Changed returns a channel that is closed at the next event. A reader that takes it
// before it calls Since misses nothing.
func (r *Ring) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awaited = true
	return r.changed
}

// Subscribe calls a function with the events of this process as they arrive, one call
// after the other. The function must return quickly, and must call neither the store nor
// the ring.
func (r *Ring) Subscribe(handle func([]rota.Event)) (stop func()) {
	return subscribe(r, r.subscribers, handle)
}

func subscribe[F any](r *Ring, to map[int]F, handle F) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := r.next
	r.next++
	to[name] = handle
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(to, name)
	}
}

// Close stops reading events of the store. The events in the ring can still be read.
func (r *Ring) Close() {
	r.stop()
	r.others.close()
}
