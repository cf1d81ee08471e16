package logstore

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// sharing holds the events that this process publishes itself until its next entry takes them along. If
// it appends none for a while, they get an entry of their own.
type sharing struct {
	mu     sync.Mutex
	events []rota.Event
	timer  *time.Timer
	closed bool
}

// shareWait is how long events wait for an entry.
const shareWait = time.Second

// Share sends events that this process publishes itself to the other processes.
func (s *Store) Share(events []rota.Event) {
	h := &s.shared
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if h.events = append(h.events, events...); h.timer == nil {
		h.timer = time.AfterFunc(shareWait, s.flushShared)
	}
}

// flushShared appends the events that no entry has taken. They are hints: if it fails, they are lost.
func (s *Store) flushShared() { s.commitShared(s.shared.take()) }

func (s *Store) commitShared(events []rota.Event) {
	if len(events) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shareWait)
	defer cancel()
	_, _ = s.log.Commit(ctx, Entry{Shared: events})
}

func (h *sharing) take() []rota.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.takeLocked()
}

func (h *sharing) takeLocked() []rota.Event {
	events := h.events
	h.events = nil
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	return events
}

// close returns the events that wait, such as that this process leaves.
func (h *sharing) close() []rota.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	return h.takeLocked()
}
