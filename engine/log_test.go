package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func logSome(ctx context.Context, job *rota.Job) error {
	engine.Log(ctx).Info("hello", "attempt", job.Attempt)
	engine.Log(ctx).Debug("details")
	_, err := fmt.Fprintf(engine.Output(ctx), "line 1\nline 2\n")
	return err
}

func TestRunLogHasLogLinesAndOutput(t *testing.T) {
	h := newHarness(t)
	logs := newMemoryLogs()
	h.start(registry(logSome), engine.Config{Logs: logs})
	id := h.addOne()
	h.awaitEnded(id)
	text, closed := logs.text(id)
	for _, want := range []string{"msg=hello attempt=1\n", "msg=details", "line 1\nline 2\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

func TestSilentRunHasNoLog(t *testing.T) {
	h := newHarness(t)
	logs := newMemoryLogs()
	h.start(registry(func(context.Context, *rota.Job) error { return nil }), engine.Config{Logs: logs})
	if job := h.awaitEnded(h.addOne()); job.Run.LogPath != "" || len(logs.files) != 0 {
		t.Errorf("log path %q, %d files", job.Run.LogPath, len(logs.files))
	}
}

func TestUnwritableLogDoesNotFailRun(t *testing.T) {
	h := newHarness(t)
	logs := newMemoryLogs()
	logs.broken = true
	h.start(registry(logSome), engine.Config{Logs: logs})
	if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
	if n := h.log.count("cannot be written", "level=WARN"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// An invalid path does not affect how the run ends.
func TestInvalidLogPathDoesNotFailRun(t *testing.T) {
	for name, path := range map[string]string{
		"too long":      strings.Repeat("x", rota.PathMax+1),
		"invalid UTF-8": "logs/\xff\x00",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			logs := newMemoryLogs()
			logs.path = path
			h.start(registry(logSome), engine.Config{Logs: logs})
			if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
				t.Errorf("%s: %s", job.State(), job.Run.Error)
			}
		})
	}
}

func TestWithoutLogsLinesGoToProcessLogger(t *testing.T) {
	h := newHarness(t)
	h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		engine.Log(ctx).Warn("hello")
		return nil
	}), engine.Config{})
	id := h.addOne()
	h.eventually("it has ended", func() bool { return h.job(id).Ended() })
	if h.log.count("hello") != 1 {
		t.Errorf("the log of the process has no such line")
	}
}
