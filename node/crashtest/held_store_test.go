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

	"github.com/rotajobs/rota/api"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestSecondServerOnSameStoreIsRefused starts a second server on the data directory of
// another, or on its store. It exits at once, names the process id of the holder, and
// changes nothing.
func TestSecondServerOnSameStoreIsRefused(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	proc, c := s.startUntilReady(), newCaller(s)
	pid := fmt.Sprint(proc.cmd.Process.Pid)
	for what, settings := range map[string][]string{
		"on the same data":  nil,
		"on the same store": {"ROTA_DATA=" + s.path("elsewhere"), "ROTA_STORE=sqlite:" + s.database()},
	} {
		second := &serverDir{T: t, dir: t.TempDir(), data: s.data, env: s.env, changed: make(chan struct{})}
		other := second.start(settings...)
		if other.waitReady() || other.exitStatus() != fmt.Sprint("exit ", exitUnavailable) || !strings.Contains(second.logTail(), pid) {
			t.Errorf("a second server %s ended with %s, or does not name process %s:\n%s", what, other.exitStatus(), pid, second.logTail())
		}
	}
	c.enqueue(object{"behave": "succeed"}, nil)
	c.waitUntilIdle()
	proc.stop()
}

// TestRotaServeOnHeldDataIsRefused is the same with the program rota. It runs in long
// tests only, because the build takes long.
func TestRotaServeOnHeldDataIsRefused(t *testing.T) {
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
	proc := s.startUntilReady()
	out, err = exec.Command(program, "serve", "--data", s.data, "--http", "127.0.0.1:0").CombinedOutput()
	var ended *exec.ExitError
	if e, is := err.(*exec.ExitError); is {
		ended = e
	}
	if ended == nil || ended.ExitCode() != exitUnavailable || !strings.Contains(string(out), fmt.Sprint(proc.cmd.Process.Pid)) {
		t.Errorf("rota serve on data that is held: %v\n%s", err, out)
	}
	proc.stop()
}

// TestForeignWriterDelaysRequestsAndLosesNoLease locks the file of the store from outside
// of the server for three leases. Heartbeats and requests wait, no lease is lost, and
// nothing runs twice.
func TestForeignWriterDelaysRequestsAndLosesNoLease(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	proc, c, answers := s.startUntilReady(), newCaller(s), newAnswerLog()
	var ran []api.Job
	for range 3 {
		mark := answers.newMark()
		ran = append(ran, c.enqueue(object{"behave": "sleep", "for": "1500ms", "mark": mark}, nil))
		answers.acknowledge(mark, ran[len(ran)-1])
	}
	s.waitUntil("all jobs run", func() bool { return s.startsInLedger() == len(ran) })

	conn, err := sqlite.OpenConn(s.database(), sqlite.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	conn.SetBusyTimeout(waitMax)
	must(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil))
	held := time.Now()
	answered := make(chan time.Duration)
	go func() {
		mark := answers.newMark()
		job := api.Job{}
		a, err := c.write(t.Context(), "POST", "/jobs", object{"type": "ledger", "params": object{"mark": mark}})
		if err == nil {
			err = a.decode(&job)
		}
		if err != nil {
			t.Errorf("a request during the lock: %v", err)
		}
		answers.acknowledge(mark, job)
		answered <- time.Since(held)
	}()
	time.Sleep(3 * time.Second) // the file stays locked meanwhile
	must(t, sqlitex.ExecuteTransient(conn, "ROLLBACK", nil))
	if after := <-answered; after < 3*time.Second {
		t.Errorf("a request was answered after %s, while the file was locked", after)
	}
	c.waitUntilIdle()
	proc.stop()

	a := s.audit(answers)
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	a.checkEndings()
	for _, job := range ran {
		if chain := a.chains[job.ID.ID]; len(chain) != 1 {
			t.Errorf("job %s has %d attempts; another writer must not fail it", job.ID, len(chain))
		}
	}
}

// startsInLedger counts the starts in the ledger.
func (s *serverDir) startsInLedger() int {
	text, err := os.ReadFile(s.path("ledger"))
	must(s, err)
	return strings.Count("\n"+string(text), "\nstart ")
}
