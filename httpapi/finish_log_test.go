package httpapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// logWriter keeps what workers send where logReader finds it.
type logWriter struct{ *logDir }

func (w logWriter) Path(job *rota.Job) string { return filepath.Base(w.file(job)) }

func (w logWriter) Keep(job *rota.Job, text string) error {
	return os.WriteFile(w.file(job), []byte(text), 0o600)
}

func withLogWriter(c *httpapi.Config) { c.LogWriter = logWriter{c.Logs.(logReader).logDir} }

func TestAWorkerSendsItsLog(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	for range 2 { // it may be sent again
		if code := s.finish(job, `, "outcome": "completed", "log": "one\ntwo\n"`); code != "ok" {
			t.Fatal(code)
		}
		if text := s.get("jobs/" + id + "/log").is(200).text; text != "one\ntwo\n" {
			t.Errorf("%q", text)
		}
	}
	if path := s.show(job.Job.ID).Run.LogPath; string(path) != id+".log" {
		t.Errorf("it stands at %q", path)
	}
	quiet := s.enqueue(`{"type": "a"}`)
	s.finish(s.claimOne("a"), `, "outcome": "completed"`)
	if run := s.get("jobs/" + quiet).is(200).job().Run; run.LogPath != "" {
		t.Errorf("a run that wrote nothing has a log at %q", run.LogPath)
	}
}

// TestALongLogIsCut at its beginning, and says so.
func TestALongLogIsCut(t *testing.T) {
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

// TestTheEndOfARunStandsWithoutItsLog: where none are kept, and where it cannot
// be written.
func TestTheEndOfARunStandsWithoutItsLog(t *testing.T) {
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

// TestALogThatComesWithTheEndIsFollowed: it is there a moment after its run has
// ended.
func TestALogThatComesWithTheEndIsFollowed(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	followed := make(chan answer, 1)
	go func() { followed <- s.get("jobs/" + id + "/log?follow=true") }()
	s.finish(job, `, "outcome": "completed", "log": "at last\n"`)
	if text := soon(t, followed).is(200).text; text != "at last\n" {
		t.Errorf("%q", text)
	}
}
