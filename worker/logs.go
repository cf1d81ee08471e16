package worker

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// logMax is how much of the log of a run is kept: its end, which shows why the run failed.
const logMax = 1 << 20

// logs finds the log of a run when its end is sent. It holds weak pointers: the engine
// owns the logs, and a log is freed when the engine no longer needs it.
type logs struct {
	mu    sync.Mutex
	byRun map[rota.ID]weak.Pointer[logTail]
}

func newLogs() *logs { return &logs{byRun: map[rota.ID]weak.Pointer[logTail]{}} }

// Open creates the log of a run.
func (l *logs) Open(job *rota.Job) (engine.LogFile, error) {
	t := &logTail{}
	runtime.AddCleanup(t, l.drop, job.Run.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byRun[job.Run.ID] = weak.Make(t)
	return t, nil
}

func (l *logs) get(run rota.ID) *logTail {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byRun[run].Value()
}

// text is what a run wrote, empty if it wrote nothing.
func (l *logs) text(run rota.ID) string {
	if t := l.get(run); t != nil {
		return t.text()
	}
	return ""
}

// size is the approximate length of the text.
func (l *logs) size(run rota.ID) int {
	if t := l.get(run); t != nil {
		return t.size()
	}
	return 0
}

// drop removes the log of a run.
func (l *logs) drop(run rota.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byRun, run)
}

// logTail is the end of one log.
type logTail struct {
	mu      sync.Mutex
	kept    []byte
	dropped int // bytes before kept
}

// Write appends text, and drops the beginning of a long log.
func (t *logTail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, text...)
	if len(t.kept) >= 2*logMax {
		t.trim()
	}
	return len(text), nil
}

// trim drops what exceeds logMax.
func (t *logTail) trim() {
	if more := len(t.kept) - logMax; more > 0 {
		t.dropped += more
		t.kept = append(t.kept[:0], t.kept[more:]...)
	}
}

func (t *logTail) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return min(len(t.kept), logMax)
}

// text is the kept part as valid text. If the beginning was dropped, it begins with a
// whole line, after a line that states that.
func (t *logTail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trim()
	kept, dropped := t.kept, t.dropped
	if dropped == 0 {
		return validText(kept)
	}
	if end := bytes.IndexByte(kept, '\n'); end >= 0 {
		kept, dropped = kept[end+1:], dropped+end+1
	}
	return fmt.Sprintf("[%d bytes before this were not kept]\n%s", dropped, validText(kept))
}

// validText replaces what is not valid text.
func validText(text []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
}

// Close does nothing: the log is sent with the end of the run.
func (t *logTail) Close() error { return nil }

// Path is empty: the server sets it.
func (t *logTail) Path() string { return "" }
