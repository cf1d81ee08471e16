package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// logWriter stores logs where logReader finds them.
type logWriter struct{ *logDir }

func (w logWriter) Path(job *rota.Job) string { return filepath.Base(w.file(job)) }

func (w logWriter) Keep(_ context.Context, logs map[*rota.Job]string) (err error) {
	for job, text := range logs {
		err = errors.Join(err, os.WriteFile(w.file(job), []byte(text), 0o600))
	}
	return err
}

func (w logWriter) Append(_ context.Context, job *rota.Job, offset int64, part string) (full bool, err error) {
	file, err := os.OpenFile(w.file(job), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer file.Close()
	_, err = file.WriteAt([]byte(part), offset)
	return false, err
}

func withLogWriter(c *httpapi.Config) { c.LogWriter = logWriter{c.Logs.(logReader).logDir} }

func TestFinishStoresLog(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	for range 2 { // finish may be repeated
		if code := s.finish(job, `, "outcome": "completed", "log": "one\ntwo\n"`); code != "ok" {
			t.Fatal(code)
		}
		if text := s.get("jobs/" + id + "/log").is(200).text; text != "one\ntwo\n" {
			t.Errorf("%q", text)
		}
	}
	if path := s.show(job.Job.ID).Run.LogPath; string(path) != id+".log" {
		t.Errorf("the log path is %q", path)
	}
	quiet := s.enqueue(`{"type": "a"}`)
	s.finish(s.claimOne("a"), `, "outcome": "completed"`)
	if run := s.get("jobs/" + quiet).is(200).job().Run; run.LogPath != "" {
		t.Errorf("a run that wrote nothing has a log at %q", run.LogPath)
	}
}

// TestFinishKeepsTailOfLongLog checks that the start of the log is cut and replaced by a note.
func TestFinishKeepsTailOfLongLog(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	var log strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&log, `line %d of what is too much to be kept by anybody\n`, i)
	}
	s.finish(s.claimOne("a"), `, "outcome": "failed", "log": "`+log.String()+`"`)
	text := s.get("jobs/" + id + "/log").is(200).text
	first, rest, _ := strings.Cut(text, "\n")
	if len(text) > 1<<20+200 || len(text) < 1<<20-200 || !strings.HasPrefix(first, "[rota: ") || !strings.HasPrefix(rest, "line ") || !strings.HasSuffix(rest, "line 29999 of what is too much to be kept by anybody\n") {
		t.Errorf("%d bytes: %q … %q", len(text), text[:200], text[len(text)-100:])
	}
}

// TestFinishSucceedsWhenLogCannotBeStored covers a server without a log writer and one whose log
// directory does not exist.
func TestFinishSucceedsWhenLogCannotBeStored(t *testing.T) {
	for _, change := range []func(*httpapi.Config){
		func(*httpapi.Config) {},
		func(c *httpapi.Config) { c.LogWriter = logWriter{&logDir{dir: "/nowhere/at/all"}} },
	} {
		s := newServer(t, change)
		s.declare("a")
		id := s.enqueue(`{"type": "a"}`)
		if code := s.finish(s.claimOne("a"), `, "outcome": "completed", "log": "lost"`); code != "ok" {
			t.Error(code)
		}
		if job := s.get("jobs/" + id).is(200).job(); job.State != "completed" {
			t.Errorf("%+v", job)
		}
	}
}

// TestFollowedLogIncludesLogOfFinish follows a log that is stored just after its run has ended.
func TestFollowedLogIncludesLogOfFinish(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	followed := make(chan answer, 1)
	go func() { followed <- s.get("jobs/" + id + "/log?follow=true") }()
	s.finish(job, `, "outcome": "completed", "log": "at last\n"`)
	if text := receive(t, followed).is(200).text; text != "at last\n" {
		t.Errorf("%q", text)
	}
}

// slowWriter stores a log only after release.
type slowWriter struct {
	logWriter
	started, release chan struct{}
}

func (w slowWriter) Keep(ctx context.Context, logs map[*rota.Job]string) error {
	close(w.started)
	<-w.release
	return w.logWriter.Keep(ctx, logs)
}

// TestLogRequestWaitsForPendingLog checks that a client that sees the end of a run also sees its log.
func TestLogRequestWaitsForPendingLog(t *testing.T) {
	slow := slowWriter{started: make(chan struct{}), release: make(chan struct{})}
	s := newServer(t, func(c *httpapi.Config) {
		slow.logWriter = logWriter{c.Logs.(logReader).logDir}
		c.LogWriter = slow
	})
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	finished, asked := make(chan string, 1), make(chan answer, 2)
	go func() { finished <- s.finish(job, `, "outcome": "completed", "log": "at last\n"`) }()
	<-slow.started
	if state := s.get("jobs/" + id).is(200).job().State; state != "completed" {
		t.Errorf("it is %s", state)
	}
	for _, how := range []string{"", "?follow=true"} {
		go func() { asked <- s.get("jobs/" + id + "/log" + how) }()
	}
	time.Sleep(50 * time.Millisecond) // both requests have arrived
	close(slow.release)
	for range 2 {
		if text := receive(t, asked).is(200).text; text != "at last\n" {
			t.Errorf("%q", text)
		}
	}
	if code := <-finished; code != "ok" {
		t.Error(code)
	}
}

// TestFinishReplacesNUL checks error and log texts: a refused finish would leave the run open for
// ever.
func TestFinishReplacesNUL(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	if code := s.finish(s.claimOne("a"), `, "outcome": "failed", "permanent": true, "error": "a\u0000b", "log": "c\u0000d\n"`); code != "ok" {
		t.Fatal(code)
	}
	if run := s.get("jobs/" + id).is(200).job().Run; run.Error != "a\uFFFDb" {
		t.Errorf("%q", run.Error)
	}
	if text := s.get("jobs/" + id + "/log").is(200).text; text != "c\uFFFDd\n" {
		t.Errorf("%q", text)
	}
}

func TestInvalidFinishNamesFieldAndKeepsRun(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	deep := strings.Repeat("[", rota.DepthMax+1) + strings.Repeat("]", rota.DepthMax+1)
	for _, bad := range [][3]string{
		{`"result": ` + deep, "items[0].result", "is nested more than 500 deep"},
		{`"rows_affected": -1`, "items[0].rows_affected", "is -1; it must not be negative"},
		{`"retry_at": "9000-01-01T00:00:00Z"`, "items[0].retry_at", "is 9000-01-01T00:00:00Z; the latest retry is at 20"},
	} {
		p := s.post("finish", `{"items": [`+lease(job, `, "outcome": "failed", `+bad[0])+`]}`).problem(422, "invalid")
		if p.Errors[0].Field != bad[1] || !strings.HasPrefix(p.Errors[0].Reason, bad[2]) {
			t.Errorf("%+v", p)
		}
	}
	if p := s.post("extend", `{"items": [`+lease(job, `, "progress": `+deep)+`]}`).problem(422, "invalid"); p.Errors[0].Field != "items[0].progress" {
		t.Errorf("%+v", p)
	}
	if code := s.finish(job, `, "outcome": "completed", "result": `+deep[1:len(deep)-1]); code != "ok" {
		t.Error(code)
	}
}
