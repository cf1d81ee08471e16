package postgres

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

const (
	wantedFor     = 10 * time.Second // how long one announcement of interest is valid
	answersWithin = 2 * time.Second  // within which interested processes answer a hello
	wantDelayMax  = 2 * time.Second  // longest delivery of an announcement that loses no event
	keptMax       = 1_024            // events kept for a process that announces its interest
	unsentMax     = 8_192            // events that wait to be sent
	muteFor       = time.Second      // pause after more events than that
	deafEvery     = 5 * time.Second  // between two reports of a process that does not learn of interest
)

// forwarder sends the events of this process to the others, while one of them wants events. Until
// then it keeps the last events: an announcement arrives later than the reader it announces, and the
// events between the two must not be missing. Events that it could not keep or send are reported as
// lost with the next message.
type forwarder struct {
	wake    func()
	began   time.Time
	deaf    bool         // this process receives no announcements
	until   atomic.Int64 // how long events are wanted or may be wanted, in nanoseconds since began
	skipped atomic.Int64 // when an event that no message has was published, the same

	mu         sync.Mutex
	wanters    map[string]*wanter // by process
	forwarding bool
	askedUntil time.Time // until when answers to the hello may arrive
	kept       []keptEvents
	keptCount  int

	unsent      []rota.Event
	mutedUntil  time.Time
	lost        bool // events were lost since the last message
	number      uint64
	lastDeafRun time.Time
}

// wanter is a process that wants events.
type wanter struct {
	until time.Time
	told  time.Duration // newest skipped event that was reported to it as lost
}

type keptEvents struct {
	at     time.Duration // since began
	events []rota.Event
}

// wantMessage announces interest in events.
type wantMessage struct {
	Age int64 `json:"age"` // since when, in milliseconds
}

// eventsMessage has the next events of a process.
type eventsMessage struct {
	Number uint64 `json:"n"` // counts the messages of the sender
	Lost   bool   `json:"lost,omitempty"`
	Events []byte `json:"e,omitempty"` // encoded one after the other
}

func (f *forwarder) init(wake func()) {
	f.wake, f.began, f.wanters = wake, time.Now(), map[string]*wanter{}
	f.skipped.Store(-1)
	f.until.Store(-1)
}

// wanted reports whether another process wants events, or may want them.
func (f *forwarder) wanted() bool { return int64(time.Since(f.began)) < f.until.Load() }

// skip notes a commit whose events were not created, because no process wanted them.
func (f *forwarder) skip() {
	now := int64(time.Since(f.began))
	f.skipped.Store(now)
	if f.deaf {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reportDeaf()
	}
}

// asked starts the wait for answers to a hello.
func (f *forwarder) asked() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.askedUntil = time.Now().Add(answersWithin)
	f.setUntil()
}

// setUntil computes how long events are wanted.
func (f *forwarder) setUntil() {
	last := f.askedUntil
	for _, w := range f.wanters {
		if w.until.After(last) {
			last = w.until
		}
	}
	if !last.IsZero() {
		f.until.Store(int64(last.Sub(f.began)))
	}
}

// publish sends or keeps the events of a commit.
func (f *forwarder) publish(events []rota.Event) {
	if len(events) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if f.forwarding && now.Sub(f.began) >= time.Duration(f.until.Load()) {
		f.forwarding = false
		clear(f.wanters)
	}
	switch {
	case f.deaf:
		f.reportDeaf()
	case f.forwarding:
		f.enqueue(now, events)
	default:
		f.keep(now.Sub(f.began), events)
	}
}

// reportDeaf reports, at intervals, that this process has events which it does not send.
func (f *forwarder) reportDeaf() {
	if now := time.Now(); now.Sub(f.lastDeafRun) >= deafEvery {
		f.lastDeafRun, f.lost = now, true
		f.wake()
	}
}

// enqueue adds events to those that wait to be sent. More than unsentMax are dropped together, and
// those of the next second: the readers have to reload their data, and a process that has more
// events than it can send must not spend its time on them.
func (f *forwarder) enqueue(now time.Time, events []rota.Event) {
	if now.Before(f.mutedUntil) {
		return
	}
	f.unsent = append(f.unsent, events...)
	if len(f.unsent) > unsentMax {
		f.unsent, f.lost, f.mutedUntil = nil, true, now.Add(muteFor)
		time.AfterFunc(muteFor, f.wake)
		return
	}
	f.wake()
}

// keep keeps the last events.
func (f *forwarder) keep(at time.Duration, events []rota.Event) {
	f.kept = append(f.kept, keptEvents{at, events})
	f.keptCount += len(events)
	drop := 0
	for f.keptCount > keptMax {
		f.keptCount -= len(f.kept[drop].events)
		f.noteSkipped(f.kept[drop].at)
		f.kept[drop] = keptEvents{}
		drop++
	}
	f.kept = f.kept[drop:] // append copies what is left when the array is full
}

func (f *forwarder) noteSkipped(at time.Duration) {
	if int64(at) > f.skipped.Load() {
		f.skipped.Store(int64(at))
	}
}

// receiveWant handles the announcement of a process that wants events.
func (f *forwarder) receiveWant(from string, body json.RawMessage) {
	var m wantMessage
	if json.Unmarshal(body, &m) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	since := now.Sub(f.began) - time.Duration(m.Age)*time.Millisecond - wantDelayMax
	w := f.wanters[from]
	if w == nil {
		w = &wanter{told: -1}
		f.wanters[from] = w
	}
	w.until = now.Add(wantedFor)
	f.setUntil()
	if !f.forwarding {
		f.forwarding = true
		f.releaseKept(since)
	}
	if skipped := time.Duration(f.skipped.Load()); skipped > max(since, w.told) {
		w.told, f.lost = skipped, true
	}
	f.wake()
}

// releaseKept moves the kept events since a time to those that wait to be sent.
func (f *forwarder) releaseKept(since time.Duration) {
	for _, k := range f.kept {
		if k.at >= since {
			f.unsent = append(f.unsent, k.events...)
		} else {
			f.noteSkipped(k.at)
		}
	}
	f.kept, f.keptCount = nil, 0
}

// lose notes that a message may not have arrived.
func (f *forwarder) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = true
	f.wake()
}

// close prepares the last messages. Without an announcement of interest it sends the last events all the
// same, because an announcement may be on its way: those of the last moments, or all if the answers to
// the hello may still arrive.
func (f *forwarder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mutedUntil = time.Time{}
	if f.forwarding {
		return
	}
	now, since := time.Now(), time.Duration(0)
	if now.After(f.askedUntil) {
		since = now.Sub(f.began) - wantDelayMax
	}
	f.releaseKept(since)
	if skipped := f.skipped.Load(); skipped >= 0 && skipped > int64(since) {
		f.lost = true
	}
}

// takeMessage returns the next message of at most size bytes, nil if there is none.
func (f *forwarder) takeMessage(size int) json.RawMessage {
	f.mu.Lock()
	if time.Now().Before(f.mutedUntil) || len(f.unsent) == 0 && !f.lost {
		f.mu.Unlock()
		return nil
	}
	f.number++
	m := eventsMessage{Number: f.number, Lost: f.lost}
	f.lost = false
	events := f.unsent
	f.unsent = nil
	f.mu.Unlock()
	size = eventBytes(size - 64) // 64 characters for the other fields
	m.Events = make([]byte, 0, size)
	sent := 0
	for ; sent < len(events); sent++ {
		longer, err := appendEvent(m.Events, &events[sent])
		if err != nil || len(longer) > size && len(m.Events) == 0 { // no message can have it
			m.Lost = true
			continue
		}
		if len(longer) > size {
			break
		}
		m.Events = longer
	}
	f.putBack(events[sent:])
	text, _ := json.Marshal(m) // its parts are encoded already
	return text
}

// putBack puts events in front of those that arrived meanwhile.
func (f *forwarder) putBack(events []rota.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(events) == 0 || f.lost { // they were dropped together with the next ones
		return
	}
	f.unsent = append(events, f.unsent...)
}
