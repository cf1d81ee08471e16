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

// eventRecorder records all events of a store.
type eventRecorder struct {
	mu      sync.Mutex
	events  []rota.Event
	changed chan struct{}
}

func newEventRecorder() *eventRecorder { return &eventRecorder{changed: make(chan struct{})} }

func (s *eventRecorder) record(events []rota.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, events...)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *eventRecorder) all() ([]rota.Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[:len(s.events):len(s.events)], s.changed
}

// failer is a test, or a harness that may run it again.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// await waits for an event, which may already have happened.
func (s *eventRecorder) await(t failer, what string, match func(rota.Event) bool) rota.Event {
	t.Helper()
	deadline := time.After(waitMax)
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
			t.Fatalf("waited %v without success for %s", waitMax, what)
		}
	}
}

// count counts events.
func (s *eventRecorder) count(match func(rota.Event) bool) (n int) {
	events, _ := s.all()
	for _, e := range events {
		if match(e) {
			n++
		}
	}
	return n
}

// starts returns how often a job was started.
func (s *eventRecorder) starts(id rota.ID) int {
	return s.count(func(e rota.Event) bool { return e.Kind == rota.EventJobStarted && e.JobID == id })
}

// logRecorder records what an engine logs.
type logRecorder struct {
	mu    sync.Mutex
	lines []string
}

// Enabled accepts all levels.
func (*logRecorder) Enabled(context.Context, slog.Level) bool { return true }

// Handle records a log record as one line.
func (b *logRecorder) Handle(_ context.Context, record slog.Record) error {
	var line bytes.Buffer
	_ = slog.NewTextHandler(&line, nil).Handle(context.Background(), record)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line.String())
	return nil
}

// WithAttrs ignores the attributes: no test compares them.
func (b *logRecorder) WithAttrs([]slog.Attr) slog.Handler { return b }

// WithGroup ignores the group: no test compares it.
func (b *logRecorder) WithGroup(string) slog.Handler { return b }

// count counts the lines that contain all of these texts.
func (b *logRecorder) count(texts ...string) (n int) {
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

// memoryLogs stores the logs of runs in memory.
type memoryLogs struct {
	mu     sync.Mutex
	files  map[rota.ID]*memoryLog
	broken bool   // writes fail
	path   string // of every log; empty: a valid path for each
}

// memoryLog is the log of one run.
type memoryLog struct {
	logs   *memoryLogs
	path   string
	text   bytes.Buffer
	closed int
}

func newMemoryLogs() *memoryLogs { return &memoryLogs{files: map[rota.ID]*memoryLog{}} }

// Open creates a log.
func (s *memoryLogs) Open(job *rota.Job) (engine.LogFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[job.ID] != nil {
		return nil, errors.New("the log was opened twice")
	}
	file := &memoryLog{logs: s, path: "logs/" + job.ID.String()}
	if s.path != "" {
		file.path = s.path
	}
	s.files[job.ID] = file
	return file, nil
}

// text returns what a run wrote, and how often its log was closed.
func (s *memoryLogs) text(id rota.ID) (text string, closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[id] == nil {
		return "", 0
	}
	return s.files[id].text.String(), s.files[id].closed
}

// Write appends to the log.
func (f *memoryLog) Write(text []byte) (int, error) {
	f.logs.mu.Lock()
	defer f.logs.mu.Unlock()
	if f.logs.broken {
		return 0, errors.New("the disk is full")
	}
	return f.text.Write(text)
}

// Close counts the calls.
func (f *memoryLog) Close() error {
	f.logs.mu.Lock()
	defer f.logs.mu.Unlock()
	f.closed++
	return nil
}

// Path returns the path that is stored.
func (f *memoryLog) Path() string { return f.path }
