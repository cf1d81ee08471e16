package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func chatter(ctx context.Context, job *rota.Job) error {
	engine.Log(ctx).Info("hello", "attempt", job.Attempt)
	engine.Log(ctx).Debug("details")
	_, err := fmt.Fprintf(engine.Output(ctx), "line 1\nline 2\n")
	return err
}

func TestTheLogOfARunHasWhatItWrote(t *testing.T) {
	w := newWorld(t)
	shelf := newShelf()
	w.start(registry(chatter), engine.Config{Logs: shelf})
	id := w.addOne()
	w.ended(id)
	text, closed := shelf.text(id)
	for _, want := range []string{"msg=hello attempt=1\n", "msg=details", "line 1\nline 2\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

func TestARunThatSaysNothingHasNoLog(t *testing.T) {
	w := newWorld(t)
	shelf := newShelf()
	w.start(registry(func(context.Context, *rota.Job) error { return nil }), engine.Config{Logs: shelf})
	if job := w.ended(w.addOne()); job.Run.LogPath != "" || len(shelf.files) != 0 {
		t.Errorf("log path %q, %d files", job.Run.LogPath, len(shelf.files))
	}
}

func TestALogThatCannotBeWrittenFailsNoRun(t *testing.T) {
	w := newWorld(t)
	shelf := newShelf()
	shelf.broken = true
	w.start(registry(chatter), engine.Config{Logs: shelf})
	if job := w.ended(w.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
	if n := w.log.count("cannot be written", "level=WARN"); n != 1 {
		t.Errorf("it was said %d times", n)
	}
}

// Where a log lies is no reason to forget how its run ended.
func TestABadLogPathFailsNoRun(t *testing.T) {
	for name, path := range map[string]string{
		"too long": strings.Repeat("x", rota.PathMax+1),
		"no text":  "logs/\xff\x00",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			shelf := newShelf()
			shelf.path = path
			w.start(registry(chatter), engine.Config{Logs: shelf})
			if job := w.ended(w.addOne()); job.State() != rota.StateCompleted {
				t.Errorf("%s: %s", job.State(), job.Run.Error)
			}
		})
	}
}

func TestWithoutLogsTheLinesGoToTheLoggerOfTheProcess(t *testing.T) {
	w := newWorld(t)
	w.start(registry(func(ctx context.Context, _ *rota.Job) error {
		engine.Log(ctx).Warn("hello")
		return nil
	}), engine.Config{})
	id := w.addOne()
	w.until("it has ended", func() bool { return w.job(id).Ended() })
	if w.log.count("hello") != 1 {
		t.Errorf("the log of the process has no such line")
	}
}
