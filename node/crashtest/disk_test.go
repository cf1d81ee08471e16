//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// TestFullDiskLosesNothing fills the disk of a running server to the last page. The
// server keeps running, reports the problem, loses nothing that it acknowledged, and
// continues by itself when there is space: it then records once the runs that ended
// meanwhile.
func TestFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	if err := mountSmall(s.data); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(s.data) })
	filler := filepath.Join(s.data, "filler")
	must(t, os.WriteFile(filler, bytes.Repeat([]byte{1}, 3<<20), 0o600))
	proc, c, answers := s.startUntilReady(), newCaller(s), newAnswerLog()
	c.mustWrite("PUT", "/types/parked", object{}, nil)

	var ran []api.Job
	for range 4 { // jobs that end while the disk is full
		mark := answers.newMark()
		job := c.enqueue(object{"until": s.path("full"), "mark": mark}, nil)
		answers.acknowledge(mark, job)
		ran = append(ran, job)
	}
	s.waitUntil("all jobs run", func() bool { return s.startsInLedger() == len(ran) })
	problem := fill(c, answers)
	if problem.Code != string(rota.Unavailable) || !strings.Contains(problem.Detail, "the disk is full") || problem.Hint == "" {
		t.Errorf("a request on a full disk is answered %+v", problem)
	}
	must(t, os.WriteFile(s.path("full"), nil, 0o600))
	s.waitUntil("all runs have ended", func() bool { return s.endsInLedger() == len(ran) })
	for range 20 { // neither time nor requests may change the state
		if status, text := c.ready(); status != http.StatusServiceUnavailable || !strings.Contains(text, "the disk is full") {
			t.Errorf("with a full disk the server is ready: %d %s", status, text)
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, job := range ran {
		if state := c.state(job); state != "running" {
			t.Errorf("job %s is %s, but nothing can be written", job.ID, state)
		}
	}

	must(t, os.Remove(filler))
	s.waitUntil("the server is ready", func() bool { status, _ := c.ready(); return status == http.StatusOK })
	for _, job := range ran {
		s.waitUntil("the runs are recorded", func() bool { return c.state(job) == "completed" })
	}
	mark := answers.newMark()
	answers.acknowledge(mark, c.enqueue(object{"mark": mark}, nil))
	s.waitUntil("a new job has ended", func() bool { return s.endsInLedger() == len(ran)+1 })
	proc.stop()

	a := s.audit(answers)
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	for _, job := range ran {
		if chain := a.chains[job.ID.ID]; len(chain) != 1 {
			t.Errorf("job %s has %d attempts; a full disk must not fail it", job.ID, len(chain))
		}
	}
}

// fill enqueues jobs that no worker runs, until the disk has no space for the smallest
// one. It returns the last answer of the server.
func fill(c *caller, answers *answerLog) (problem api.Problem) {
	c.serverDir.Helper()
	for size := 64 << 10; size > 0; size /= 4 {
		for full := 0; full < 8; { // checkpoints of the write-ahead log free some space
			mark := answers.newMark()
			body, err := json.Marshal(object{"type": "parked", "params": object{"mark": mark, "pad": strings.Repeat("x", size)}})
			must(c.serverDir, err)
			addr, _ := c.serverDir.address()
			a, err := c.sendOnce(context.Background(), "POST", "http://"+addr+"/api/v1/jobs", body, mark)
			must(c.serverDir, err)
			if a.status == http.StatusServiceUnavailable {
				full++
				must(c.serverDir, json.Unmarshal(a.body, &problem))
				continue
			}
			full = 0
			var job api.Job
			must(c.serverDir, a.decode(&job))
			answers.acknowledge(mark, job)
		}
	}
	return problem
}

// ready returns the answer of the server to /readyz.
func (c *caller) ready() (status int, text string) {
	addr, _ := c.address()
	a, err := c.sendOnce(context.Background(), "GET", "http://"+addr+"/readyz", nil, "")
	must(c.serverDir, err)
	return a.status, string(a.body)
}

// endsInLedger counts the ends in the ledger.
func (s *serverDir) endsInLedger() int {
	text, err := os.ReadFile(s.path("ledger"))
	must(s, err)
	return strings.Count("\n"+string(text), "\nend ")
}
