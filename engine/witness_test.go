package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// witness has seen everything that happened in a store.
type witness struct {
	mu      sync.Mutex
	events  []rota.Event
	changed chan struct{}
}

func newWitness() *witness { return &witness{changed: make(chan struct{})} }

func (s *witness) see(events []rota.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, events...)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *witness) all() ([]rota.Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[:len(s.events):len(s.events)], s.changed
}

// failing is a test, or one that may be told again.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// await waits for an event, however long ago it was.
func (s *witness) await(t failing, what string, match func(rota.Event) bool) rota.Event {
	t.Helper()
	deadline := time.After(patience)
	for looked := 0; ; {
		events, changed := s.all()
		for ; looked < len(events); looked++ {
			if match(events[looked]) {
				return events[looked]
			}
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// count counts events.
func (s *witness) count(match func(rota.Event) bool) (n int) {
	events, _ := s.all()
	for _, e := range events {
		if match(e) {
			n++
		}
	}
	return n
}

// starts is how often a job was dispatched.
func (s *witness) starts(id rota.ID) int {
	return s.count(func(e rota.Event) bool { return e.Kind == rota.EventJobStarted && e.JobID == id })
}

// logbook keeps what an engine logs.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

// Enabled takes everything.
func (*logbook) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps a record as one line.
func (b *logbook) Handle(_ context.Context, record slog.Record) error {
	var line bytes.Buffer
	_ = slog.NewTextHandler(&line, nil).Handle(context.Background(), record)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line.String())
	return nil
}

// WithAttrs is not needed here.
func (b *logbook) WithAttrs([]slog.Attr) slog.Handler { return b }

// WithGroup is not needed here.
func (b *logbook) WithGroup(string) slog.Handler { return b }

// count counts the lines that have all of these texts.
func (b *logbook) count(texts ...string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, line := range b.lines {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		n++
	}
	return n
}

// shelf keeps the logs of runs in memory.
type shelf struct {
	mu     sync.Mutex
	files  map[rota.ID]*sheet
	broken bool   // no log can be written
	path   string // of all of them; empty: a good one each
}

// sheet is the log of one run.
type sheet struct {
	shelf  *shelf
	path   string
	text   bytes.Buffer
	closed int
}

func newShelf() *shelf { return &shelf{files: map[rota.ID]*sheet{}} }

// Open begins a log.
func (s *shelf) Open(job *rota.Job) (engine.LogFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[job.ID] != nil {
		return nil, errors.New("it was opened twice")
	}
	file := &sheet{shelf: s, path: "logs/" + job.ID.String()}
	if s.path != "" {
		file.path = s.path
	}
	s.files[job.ID] = file
	return file, nil
}

// text is what a run wrote, and how often its log was closed.
func (s *shelf) text(id rota.ID) (text string, closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[id] == nil {
		return "", 0
	}
	return s.files[id].text.String(), s.files[id].closed
}

// Write writes.
func (f *sheet) Write(text []byte) (int, error) {
	f.shelf.mu.Lock()
	defer f.shelf.mu.Unlock()
	if f.shelf.broken {
		return 0, errors.New("the disk is full")
	}
	return f.text.Write(text)
}

// Close closes.
func (f *sheet) Close() error {
	f.shelf.mu.Lock()
	defer f.shelf.mu.Unlock()
	f.closed++
	return nil
}

// Path is where it would be.
func (f *sheet) Path() string { return f.path }
