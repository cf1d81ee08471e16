package worker

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

func textOf(l *logs, job *rota.Job) string {
	text, _ := l.rest(job.Run.ID)
	return text
}

func TestLongLogKeepsItsEnd(t *testing.T) {
	l := newLogs()
	job := &rota.Job{Run: &rota.Run{ID: rota.NewID()}}
	file, err := l.Open(job)
	if err != nil {
		t.Fatal(err)
	}
	if text := textOf(l, job); text != "" {
		t.Errorf("nothing was written, but the text is %q", text)
	}
	written := 0
	for i := range 400_000 {
		n, err := fmt.Fprintf(file, "line %d ä\n", i)
		if err != nil {
			t.Fatal(err)
		}
		written += n
	}
	text := textOf(l, job)
	head, rest, _ := strings.Cut(text, "\n")
	var lost int
	if _, err := fmt.Sscanf(head, "[%d bytes before", &lost); err != nil || lost+len(rest) != written {
		t.Errorf("%q: %d bytes follow, and %d were written", head, len(rest), written)
	}
	if len(text) > logMax+100 || !strings.HasSuffix(text, "line 399999 ä\n") || !strings.HasPrefix(rest, "line ") || !utf8.ValidString(text) {
		t.Errorf("%d bytes are kept, from %q to %q", len(text), rest[:20], text[len(text)-20:])
	}
	if cap(file.(*logTail).kept) > 4*logMax {
		t.Errorf("it takes %d bytes of memory", cap(file.(*logTail).kept))
	}
}

func TestLogIsValidText(t *testing.T) {
	l := newLogs()
	job := &rota.Job{Run: &rota.Run{ID: rota.NewID()}}
	file, _ := l.Open(job)
	_, _ = file.Write([]byte("a\x00b\xffc\xc3"))
	if text := textOf(l, job); text != "a\uFFFDb\uFFFDc\uFFFD" {
		t.Errorf("it reads %q", text)
	}
	runtime.KeepAlive(file)
}

func (l *logs) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byRun)
}

// A log whose run is never finished, since its lease was lost, must be freed, too.
func TestLogsAreFreedWithTheirRuns(t *testing.T) {
	l := newLogs()
	kept := &rota.Job{Run: &rota.Run{ID: rota.NewID()}}
	keep, _ := l.Open(kept)
	for range 100 {
		file, _ := l.Open(&rota.Job{Run: &rota.Run{ID: rota.NewID()}})
		_, _ = file.Write([]byte("a line\n"))
	}
	_, _ = keep.Write([]byte("kept\n"))
	for deadline := time.Now().Add(time.Minute); l.count() != 1; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("%d logs are kept", l.count())
		}
	}
	if text := textOf(l, kept); text != "kept\n" {
		t.Errorf("the kept log is %q", text)
	}
	runtime.KeepAlive(keep)
}
