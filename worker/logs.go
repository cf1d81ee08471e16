package worker

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
	"weak"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// logMax is how much of a log waits in memory to be sent. If the server does not take it, its end is kept, which shows why
// the run failed.
const logMax = 1 << 20

// logWait is how long a handler that writes faster than the server takes it is held up.
const logWait = 2 * time.Second

// logs finds the logs of runs, to send them. It holds weak pointers: the engine
// owns the logs, and a log is freed when the engine no longer needs it.
type logs struct {
	mu    sync.Mutex
	byRun map[rota.ID]weak.Pointer[logTail]

	live   atomic.Bool   // the server takes logs while runs continue
	large  chan struct{} // receives a value when a log has much to send
	sender *logSender    // nil: logs are sent with the end of their run only
}

func newLogs() *logs {
	return &logs{byRun: map[rota.ID]weak.Pointer[logTail]{}, large: make(chan struct{}, 1)}
}

// Open creates the log of a run.
func (l *logs) Open(job *rota.Job) (engine.LogFile, error) {
	t := &logTail{logs: l, lease: job.Lease(), space: make(chan struct{})}
	runtime.AddCleanup(t, l.drop, job.Run.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byRun[job.Run.ID] = weak.Make(t)
	return t, nil
}

// FlushLogs sends the rest of the logs of runs that have ended, so that a reader that learns of the end has the whole log. If
// the server does not take it at once, it goes with the end.
func (l *logs) FlushLogs(ctx context.Context) {
	if l.sender != nil && l.live.Load() {
		l.sender.flush(ctx)
	}
}

func (l *logs) get(run rota.ID) *logTail {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byRun[run].Value()
}

// all lists the logs.
func (l *logs) all() (tails []*logTail) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, pointer := range l.byRun {
		if t := pointer.Value(); t != nil {
			tails = append(tails, t)
		}
	}
	return tails
}

// rest is what the server does not have of a log, and its position. At position 0 it is all that is left of the log.
func (l *logs) rest(run rota.ID) (text string, offset int64) {
	if t := l.get(run); t != nil {
		return t.rest()
	}
	return "", 0
}

// size is the approximate length of the rest.
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

// logTail is the part of one log that the server does not have: the part that was sent last, and what was written since.
type logTail struct {
	logs  *logs
	lease rota.LeaseRef

	mu      sync.Mutex
	offset  int64         // bytes that the server has
	part    string        // sent and not answered; it is sent again as it is
	kept    []byte        // written since
	dropped int           // bytes before kept that were not kept
	ended   bool          // nothing is sent any more: the log is full, or the lease lost
	closed  bool          // the run has ended
	space   chan struct{} // closed when the server has taken a part
}

// Write appends text. If much of it waits to be sent, it waits for the server, and then drops the beginning.
func (t *logTail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.awaitSpace()
	if t.ended {
		return len(text), nil
	}
	t.kept = append(t.kept, text...)
	if len(t.kept) >= 2*logMax {
		t.trim()
	}
	return len(text), nil
}

// awaitSpace waits for the server to take a part of a long log. It gives the mutex back meanwhile.
func (t *logTail) awaitSpace() {
	if len(t.kept) < logMax/2 || !t.logs.live.Load() || t.ended {
		return
	}
	select {
	case t.logs.large <- struct{}{}:
	default:
	}
	limit := time.NewTimer(logWait)
	defer limit.Stop()
	for late := false; len(t.kept) >= logMax && t.logs.live.Load() && !t.ended && !late; {
		space := t.space
		t.mu.Unlock()
		select {
		case <-space:
		case <-limit.C:
			late = true
		}
		t.mu.Lock()
	}
}

// trim drops what exceeds logMax, up to the start of a line.
func (t *logTail) trim() {
	more := len(t.kept) - logMax
	if more <= 0 {
		return
	}
	if end := bytes.IndexByte(t.kept[more:], '\n'); end >= 0 {
		more += end + 1
	}
	t.dropped += more
	t.kept = append(t.kept[:0], t.kept[more:]...)
}

func (t *logTail) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.part) + min(len(t.kept), logMax)
}

// rest is all that the server does not have. It does not change the log.
func (t *logTail) rest() (text string, offset int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return "", t.offset
	}
	t.trim()
	return t.part + t.text(len(t.kept)), t.offset
}

// text is the beginning of what was written since the last part, as valid text, after a line that states what was dropped.
func (t *logTail) text(bytes int) string {
	text := validText(t.kept[:bytes])
	if t.dropped > 0 {
		text = fmt.Sprintf("[%d bytes before this were not kept]\n", t.dropped) + text
	}
	return text
}

// next is the part to send now, and its position; empty: there is none. A character that is not complete waits for its rest.
func (t *logTail) next() (part string, offset int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.part == "" && !t.ended {
		n := t.partLength()
		if n > 0 {
			t.part = t.text(n)
			t.dropped, t.kept = 0, append(t.kept[:0], t.kept[n:]...)
		}
	}
	return t.part, t.offset
}

// partLength is the length of the next part: whole lines if there is more, else whole characters if more may follow.
func (t *logTail) partLength() int {
	if len(t.kept) > logPartMax {
		if end := bytes.LastIndexByte(t.kept[:logPartMax], '\n'); end >= 0 {
			return end + 1
		}
		return wholeRunes(t.kept[:logPartMax])
	}
	if t.closed {
		return len(t.kept)
	}
	return wholeRunes(t.kept)
}

// wholeRunes is the length of a text without an incomplete character at its end.
func wholeRunes(text []byte) int {
	for back := 1; back <= min(len(text), utf8.UTFMax-1); back++ {
		if c := text[len(text)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-back:]) {
				return len(text) - back
			}
			break
		}
	}
	return len(text)
}

// stored notes that the server has the last part, and the offset of the next one: the server may have masked the part. After ended nothing
// more is sent.
func (t *logTail) stored(next int64, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.offset, t.part = next, ""
	if ended {
		t.ended, t.kept = true, nil
	}
	close(t.space)
	t.space = make(chan struct{})
}

// isLeft reports whether the run has ended and the server has the log, except for its end.
func (t *logTail) isLeft() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed && !t.ended && t.offset > 0 && len(t.part)+len(t.kept) > 0
}

// isLarge reports whether there is enough to send without delay.
func (t *logTail) isLarge() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended && len(t.kept) >= logPartMax
}

// validText replaces what is not valid text.
func validText(text []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
}

// Close ends the log. What is left of it is sent before the end of the run, or with it.
func (t *logTail) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return nil
}

// Path is empty: the server sets it.
func (t *logTail) Path() string { return "" }
