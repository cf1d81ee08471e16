package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

func TestFollowLog(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.post("types/chatty/pause", nil).is(200)
	id := s.enqueue(`{"type": "chatty"}`)
	if p := s.get("jobs/"+id+"/log").problem(404, "not_found"); !strings.Contains(p.Detail, "not started") {
		t.Errorf("%+v", p)
	}
	got, _ := s.openStream("jobs/" + id + "/log?follow=true") // before it starts
	if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	s.post("types/chatty/resume", nil).is(200)
	log := bufio.NewReader(got.Body)
	for i := range 3 {
		lines <- fmt.Sprintf("line %d", i)
		if line, err := log.ReadString('\n'); err != nil || line != fmt.Sprintf("line %d\n", i) {
			t.Fatalf("%q %v", line, err)
		}
	}
	lines <- ""
	if rest, err := io.ReadAll(log); err != nil || len(rest) != 0 {
		t.Errorf("%q %v", rest, err)
	}
	if text := s.get("jobs/" + id + "/log").is(200).text; text != "line 0\nline 1\nline 2\n" {
		t.Errorf("%q", text)
	}
	for query, want := range map[string]string{"tail=1": "line 2\n", "tail=2": "line 1\nline 2\n", "tail=9": "line 0\nline 1\nline 2\n", "tail=0": "", "tail=1&follow=true": "line 2\n"} {
		if text := s.get("jobs/" + id + "/log?" + query).is(200).text; text != want {
			t.Errorf("%s: %q", query, text)
		}
	}
	for _, query := range []string{"tail=-1", "tail=x", "follow=yes", "lines=3"} {
		s.get("jobs/"+id+"/log?"+query).problem(400, "invalid")
	}
	s.get("jobs/"+rota.NewID().String()+"/log").problem(404, "not_found")
}

// TestFollowedLogIsAbortedWhenServerStops stops the server while a log is followed. The run has not
// ended, so the response must not end normally.
func TestFollowedLogIsAbortedWhenServerStops(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	runs := s.drive([]string{"a"}, rota.FinishItem{})
	if err := os.WriteFile(s.logs.file(runs), []byte("so far\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	base, stop := context.WithCancel(context.Background())
	defer stop()
	server := httptest.NewUnstartedServer(s.handler)
	server.Config.BaseContext = func(net.Listener) context.Context { return base }
	server.Start()
	defer server.Close()
	other := *s
	other.http = server
	got, _ := other.openStream("jobs/" + runs.ID.String() + "/log?follow=true")
	log := bufio.NewReader(got.Body)
	if line, err := log.ReadString('\n'); err != nil || line != "so far\n" {
		t.Fatalf("%q %v", line, err)
	}
	stop()
	if rest, err := io.ReadAll(log); err == nil {
		t.Errorf("the response ended normally with %q", rest)
	}
}

func TestLogOfEachAttempt(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a", "backoff": "0s"}`)
	first := s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	write := func(job *rota.Job, text string) {
		if err := os.WriteFile(s.logs.file(job), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if a := s.get("jobs/" + first.ID.String() + "/log").is(200); a.text != "" {
		t.Errorf("a run that wrote nothing has %q", a.text)
	}
	write(first, "first")
	retry := read[api.ExecutionDetail](s.get("executions/" + first.ID.String()).is(200)).Attempts[1]
	s.get("jobs/"+retry.ID.String()+"/log").problem(404, "not_found")
	second := s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeCompleted})
	write(second, "second\n")
	for id, want := range map[rota.ID]string{first.ID: "first", second.ID: "second\n"} {
		if text := s.get("jobs/" + id.String() + "/log").is(200).text; text != want {
			t.Errorf("%q", text)
		}
		if text := s.get("jobs/" + id.String() + "/log?follow=true").is(200).text; text != want {
			t.Errorf("%q", text)
		}
	}
	long := strings.Repeat(strings.Repeat("x", 99)+"\n", 3000)
	write(second, long)
	if text := s.get("jobs/" + second.ID.String() + "/log?tail=1500").is(200).text; text != long[150_000:] {
		t.Errorf("%d bytes", len(text))
	}
	queued := s.enqueue(`{"type": "a", "delay": "1h"}`)
	got, stop := s.openStream("jobs/" + queued + "/log?follow=true")
	stop()
	_, _ = io.Copy(io.Discard, got.Body)
}

// goneLogs are logs that were removed.
type goneLogs struct{ logReader }

func (goneLogs) ReadLog(_ context.Context, job *rota.Job) (io.ReadSeekCloser, error) {
	return nil, &rota.Error{Code: rota.NotFound, Reason: "logs are kept for 30d"}
}

// TestRemovedLogIsNotEmpty checks that a client can tell a log that was removed from one without lines.
func TestRemovedLogIsNotEmpty(t *testing.T) {
	s := newServer(t, func(c *httpapi.Config) { c.Logs = goneLogs{c.Logs.(logReader)} })
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeCompleted, LogPath: "logs/x"})
	for _, query := range []string{"", "?follow=true"} {
		if p := s.get("jobs/"+job.ID.String()+"/log"+query).problem(404, "not_found"); !strings.Contains(p.Detail, "kept for 30d") {
			t.Errorf("%+v", p)
		}
	}
}
