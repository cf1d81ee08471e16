//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rotajobs/rota/httpapi"
)

// TestSecondServer starts a second server on the data directory of another, or on its
// store. It ends at once, names the process id of the holder, and changes nothing.
func TestSecondServer(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	l, c := s.run(), newCaller(s)
	pid := fmt.Sprint(l.cmd.Process.Pid)
	for what, settings := range map[string][]string{
		"on the same data":  nil,
		"on the same store": {"ROTA_DATA=" + s.path("elsewhere"), "ROTA_STORE=sqlite:" + s.database()},
	} {
		second := &serverDir{T: t, dir: t.TempDir(), data: s.data, env: s.env, changed: make(chan struct{})}
		other := second.start(settings...)
		if other.becomesReady() || other.howItEnded() != fmt.Sprint("exit ", exitUnavailable) || !strings.Contains(second.logTail(), pid) {
			t.Errorf("a second server %s: %s; it does not name process %s:\n%s", what, other.howItEnded(), pid, second.logTail())
		}
	}
	c.enqueue(object{"behave": "succeed"}, nil)
	c.waitUntilIdle()
	l.stop()
}

// TestSecondServerOfRota is the same with the program rota, which takes long to build.
func TestSecondServerOfRota(t *testing.T) {
	if os.Getenv(envCrashTime) == "" {
		t.Skipf("the program is built for long tests only; set %s", envCrashTime)
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "rota")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/rota").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newServerDir(t)
	l := s.run()
	out, err = exec.Command(program, "serve", "--data", s.data, "--http", "127.0.0.1:0").CombinedOutput()
	var ended *exec.ExitError
	if e, is := err.(*exec.ExitError); is {
		ended = e
	}
	if ended == nil || ended.ExitCode() != exitUnavailable || !strings.Contains(string(out), fmt.Sprint(l.cmd.Process.Pid)) {
		t.Errorf("rota serve on data that is held: %v\n%s", err, out)
	}
	l.stop()
}

// TestForeignWriter holds the file of the store in another process for three
// leases. Heartbeats and requests wait; no lease is lost, nothing runs twice.
func TestForeignWriter(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	l, c, b := s.run(), newCaller(s), newAnswerLog()
	var ran []httpapi.Job
	for range 3 {
		mark := b.mark()
		ran = append(ran, c.enqueue(object{"behave": "sleep", "for": "1500ms", "mark": mark}, nil))
		b.acknowledge(mark, ran[len(ran)-1])
	}
	s.until("all run", func() bool { return s.begun() == len(ran) })

	conn, err := sqlite.OpenConn(s.database(), sqlite.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	conn.SetBusyTimeout(waitMax)
	must(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil))
	held := time.Now()
	answered := make(chan time.Duration)
	go func() {
		mark := b.mark()
		job := httpapi.Job{}
		a, err := c.write(t.Context(), "POST", "/jobs", object{"type": "ledger", "params": object{"mark": mark}})
		if err == nil {
			err = a.into(&job)
		}
		if err != nil {
			t.Errorf("a request that had to wait: %v", err)
		}
		b.acknowledge(mark, job)
		answered <- time.Since(held)
	}()
	time.Sleep(3 * time.Second) // the file is held so long
	must(t, sqlitex.ExecuteTransient(conn, "ROLLBACK", nil))
	if after := <-answered; after < 3*time.Second {
		t.Errorf("a request was answered after %s, while the file was held", after)
	}
	c.waitUntilIdle()
	l.stop()

	a := s.audit(b)
	defer a.store.Close()
	a.acknowledged()
	a.started()
	a.endings()
	for _, job := range ran {
		if chain := a.chains[job.ID.ID]; len(chain) != 1 {
			t.Errorf("job %s has %d attempts; another writer must not fail it", job.ID, len(chain))
		}
	}
}

// begun counts the starts in the ledger.
func (s *serverDir) begun() int {
	text, err := os.ReadFile(s.path("ledger"))
	must(s, err)
	return strings.Count("\n"+string(text), "\nstart ")
}
