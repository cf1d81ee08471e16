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
	"github.com/rotajobs/rota/httpapi"
)

// TestDiskFull fills the disk under a running server to the last page. It stays
// up, reports the problem, loses nothing that it acknowledged, and continues by itself
// when there is space: runs that ended meanwhile are then recorded once.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	if err := mountSmall(s.data); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(s.data) })
	filler := filepath.Join(s.data, "filler")
	must(t, os.WriteFile(filler, bytes.Repeat([]byte{1}, 3<<20), 0o600))
	l, c, b := s.run(), newCaller(s), newAnswerLog()
	c.must("PUT", "/types/parked", object{}, nil)

	var ran []httpapi.Job
	for range 4 { // they end while the disk is full
		mark := b.mark()
		job := c.enqueue(object{"until": s.path("full"), "mark": mark}, nil)
		b.acknowledge(mark, job)
		ran = append(ran, job)
	}
	s.until("all run", func() bool { return s.begun() == len(ran) })
	problem := fill(c, b)
	if problem.Code != string(rota.Unavailable) || !strings.Contains(problem.Detail, "the disk is full") || problem.Hint == "" {
		t.Errorf("a request on a full disk is answered %+v", problem)
	}
	must(t, os.WriteFile(s.path("full"), nil, 0o600))
	s.until("all runs have ended", func() bool { return s.ended() == len(ran) })
	for range 20 { // the state must not change with time or requests
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
	s.until("the server is ready", func() bool { status, _ := c.ready(); return status == http.StatusOK })
	for _, job := range ran {
		s.until("the runs are recorded", func() bool { return c.state(job) == "completed" })
	}
	mark := b.mark()
	b.acknowledge(mark, c.enqueue(object{"mark": mark}, nil))
	s.until("new work is done", func() bool { return s.ended() == len(ran)+1 })
	l.stop()

	a := s.audit(b)
	defer a.store.Close()
	a.acknowledged()
	a.started()
	for _, job := range ran {
		if chain := a.chains[job.ID.ID]; len(chain) != 1 {
			t.Errorf("job %s has %d attempts; a full disk must not fail it", job.ID, len(chain))
		}
	}
}

// fill enqueues jobs that no worker runs until the disk has no space for the smallest
// one, and returns the answer of the server.
func fill(c *caller, b *answerLog) (problem httpapi.Problem) {
	c.serverDir.Helper()
	for size := 64 << 10; size > 0; size /= 4 {
		for full := 0; full < 8; { // checkpoints of the write-ahead log free some space
			mark := b.mark()
			body, err := json.Marshal(object{"type": "parked", "params": object{"mark": mark, "pad": strings.Repeat("x", size)}})
			must(c.serverDir, err)
			addr, _ := c.serverDir.where()
			a, err := c.once(context.Background(), "POST", "http://"+addr+"/api/v1/jobs", body, mark)
			must(c.serverDir, err)
			if a.status == http.StatusServiceUnavailable {
				full++
				must(c.serverDir, json.Unmarshal(a.body, &problem))
				continue
			}
			full = 0
			var job httpapi.Job
			must(c.serverDir, a.into(&job))
			b.acknowledge(mark, job)
		}
	}
	return problem
}

// ready asks whether the server is ready.
func (c *caller) ready() (status int, text string) {
	addr, _ := c.where()
	a, err := c.once(context.Background(), "GET", "http://"+addr+"/readyz", nil, "")
	must(c.serverDir, err)
	return a.status, string(a.body)
}

// ended counts the ends in the ledger.
func (s *serverDir) ended() int {
	text, err := os.ReadFile(s.path("ledger"))
	must(s, err)
	return strings.Count("\n"+string(text), "\nend ")
}
