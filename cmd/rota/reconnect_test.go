package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
)

// runningCommand is a command that runs in the background of a test.
type runningCommand struct {
	out, errs lockedBuffer
	code      chan int
}

// startCommand starts a command line against the server.
func (s *testServer) startCommand(commandLine string, reconnectTimeout time.Duration) *runningCommand {
	b := &runningCommand{code: make(chan int, 1)}
	go func() {
		b.code <- run(words(commandLine), environment{
			in: strings.NewReader(""), out: &b.out, err: &b.errs, now: time.Now, reconnectTimeout: reconnectTimeout,
			getenv: func(name string) string { return map[string]string{"ROTA_DATA": s.data}[name] },
		})
	}()
	return b
}

// await waits until the command has printed a word.
func (b *runningCommand) await(t *testing.T, where *lockedBuffer, word string) {
	t.Helper()
	select {
	case <-where.waitFor(word):
	case code := <-b.code:
		t.Fatalf("the command exits with %d before it prints %q: %s%s", code, word, b.out.String(), b.errs.String())
	case <-time.After(time.Minute):
		t.Fatalf("the command does not print %q: %s%s", word, b.out.String(), b.errs.String())
	}
}

// TestWaitContinuesAfterServerRestart: the command prints the id first, and the end of the job, which another process
// runs.
func TestWaitContinuesAfterServerRestart(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	wait := s.startCommand("job create noop --wait", time.Minute)
	wait.await(t, &wait.errs, "queued")
	id := idShape.FindString(wait.errs.String())
	s.stop()
	wait.await(t, &wait.errs, "the server does not answer; waiting for it to return")
	s.start()
	s.must("type resume noop")
	if code := <-wait.code; code != exitDone || !strings.HasPrefix(wait.out.String(), id+" completed") {
		t.Errorf("exit %d: %s%s", code, wait.out.String(), wait.errs.String())
	}
}

// TestWaitTimeoutHintNamesAcceptedJob: the hint says that the job exists.
func TestWaitTimeoutHintNamesAcceptedJob(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	wait := s.startCommand("job create noop --wait", time.Nanosecond)
	wait.await(t, &wait.errs, "queued")
	id := idShape.FindString(wait.errs.String())
	s.stop()
	code := <-wait.code
	if want := fmt.Sprintf("hint: job %s was accepted; rota job show %s ", id, id); code != exitUnavailable || !strings.Contains(wait.errs.String(), want) {
		t.Errorf("exit %d: %s", code, wait.errs.String())
	}
}

// TestFollowedLogContinuesAfterServerRestart: the command ends with the run and prints each line once.
func TestFollowedLogContinuesAfterServerRestart(t *testing.T) {
	s := startServer(t)
	id := idShape.FindString(s.must("job create sleep -p for=1h --retries 0"))
	logs := s.startCommand("job logs -f "+id, time.Minute)
	logs.await(t, &logs.out, "msg=sleep")
	if err := s.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.process.Wait()
	logs.await(t, &logs.errs, "the server does not answer")
	s.start()
	if code, out := <-logs.code, logs.out.String(); code != exitDone || strings.Count(out, "msg=sleep") != 1 {
		t.Errorf("exit %d: %s%s", code, out, logs.errs.String())
	}
	if state := s.must("job show " + id); !strings.Contains(state, "failed") {
		t.Errorf("the run has not failed: %s", state)
	}
}

// TestFollowedEventsContinueAfterServerRestart: the events of the new process follow, with a warning about missing
// ones.
func TestFollowedEventsContinueAfterServerRestart(t *testing.T) {
	s := startServer(t)
	events := s.startCommand("events -f --kind job.* -o json", time.Minute)
	s.createJobsUntil(events.out.waitFor("job.enqueued"))
	s.stop()
	events.await(t, &events.errs, "the server does not answer")
	first, _, _ := strings.Cut(events.out.String(), "\n")
	if e, err := decode[api.Event](json.RawMessage(first)); err != nil || e.Type != "noop" {
		t.Errorf("the first line is %s: %v", first, err)
	}
	s.start()
	events.await(t, &events.errs, "some events are missing")
	id := idShape.FindString(s.must("job create noop"))
	events.await(t, &events.out, id)
	events.out.close()
	s.must("job create noop")
	if code := <-events.code; code != exitFailed {
		t.Errorf("with closed output the command exits with %d: %s", code, events.errs.String())
	}
}

// TestFollowedEventsExitAfterReconnectTimeout stops the server and does not start it again.
func TestFollowedEventsExitAfterReconnectTimeout(t *testing.T) {
	s := startServer(t)
	events := s.startCommand("events -f", time.Nanosecond)
	s.createJobsUntil(events.out.waitFor("job.enqueued"))
	s.stop()
	if code := <-events.code; code != exitUnavailable || !strings.Contains(events.errs.String(), "no server answers") {
		t.Errorf("exit %d: %s", code, events.errs.String())
	}
}

// createJobsUntil creates jobs until the channel is closed. Only an event shows that a stream is open.
func (s *testServer) createJobsUntil(seen <-chan struct{}) {
	for {
		s.must("job create noop --wait")
		select {
		case <-seen:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
