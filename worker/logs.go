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

// logMax is how much is kept of what one run writes: its end, where the reason
// stands why it failed.
const logMax = 1 << 20

// logs finds what a run wrote when its end is told. It is the engine that keeps
// it: what a run wrote is gone when nobody will ask for it any more.
type logs struct {
	mu    sync.Mutex
	byRun map[rota.ID]weak.Pointer[tail]
}

func newLogs() *logs { return &logs{byRun: map[rota.ID]weak.Pointer[tail]{}} }

// Open begins the log of a run.
func (l *logs) Open(job *rota.Job) (engine.LogFile, error) {
	t := &tail{}
	runtime.AddCleanup(t, l.drop, job.Run.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byRun[job.Run.ID] = weak.Make(t)
	return t, nil
}

func (l *logs) get(run rota.ID) *tail {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byRun[run].Value()
}

// text is what a run wrote, nothing if that is nothing.
func (l *logs) text(run rota.ID) string {
	if t := l.get(run); t != nil {
		return t.text()
	}
	return ""
}

// size is about how long that is.
func (l *logs) size(run rota.ID) int {
	if t := l.get(run); t != nil {
		return t.size()
	}
	return 0
}

// drop forgets what a run wrote.
func (l *logs) drop(run rota.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byRun, run)
}

// tail is the end of one log.
type tail struct {
	mu   sync.Mutex
	kept []byte
	lost int // bytes that came before
}

// Write keeps what is written, and lets go of what came long before.
func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, text...)
	if len(t.kept) >= 2*logMax {
		t.cut()
	}
	return len(text), nil
}

// cut keeps what is to be kept.
func (t *tail) cut() {
	if more := len(t.kept) - logMax; more > 0 {
		t.lost += more
		t.kept = append(t.kept[:0], t.kept[more:]...)
	}
}

func (t *tail) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return min(len(t.kept), logMax)
}

// text is what is kept, as text. If it is not all, it begins with a whole line
// and says so.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut()
	kept, lost := t.kept, t.lost
	if lost == 0 {
		return plain(kept)
	}
	if end := bytes.IndexByte(kept, '\n'); end >= 0 {
		kept, lost = kept[end+1:], lost+end+1
	}
	return fmt.Sprintf("[%d bytes before this were not kept]\n%s", lost, plain(kept))
}

// plain takes out what is no text.
func plain(text []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
}

// Close is the end of the run, whose log is sent next.
func (t *tail) Close() error { return nil }

// Path is the server's to say.
func (t *tail) Path() string { return "" }
