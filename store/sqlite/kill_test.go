//go:build unix

package sqlite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
	"github.com/rotajobs/rota/internal/depth"
)

// A child process applies one batch and kills itself at a statement. These variables configure it.
const (
	envKillStore = "ROTA_TEST_KILL_STORE"
	envKillBatch = "ROTA_TEST_KILL_BATCH"
	envKillAt    = "ROTA_TEST_KILL_AT" // 0: after the commit
)

func TestMain(m *testing.M) {
	if path := os.Getenv(envKillStore); path != "" {
		applyAndKillSelf(path)
	}
	if path := os.Getenv(envLedger); path != "" {
		workUntilKilled(path)
	}
	depth.Checks(10, 40, 300)
	os.Exit(m.Run())
}

// TestKilledProcessLeavesWholeCommands kills a process with SIGKILL during each verb, and once
// after its commit, and checks the file.
func TestKilledProcessLeavesWholeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rota.db")
			batch, before := prepareFile(t, sc, path)
			for _, kill := range []int{1, 2} {
				if !killAt(t, path, batch, kill) {
					break // the command has fewer statements and was applied
				}
				if got := reopenAndDump(t, path); got != before {
					t.Fatalf("a kill before statement %d left part of the command; before:\n%s\nafter:\n%s", kill, before, got)
				}
			}
			path = filepath.Join(t.TempDir(), "rota.db")
			batch, before = prepareFile(t, sc, path)
			killAt(t, path, batch, 0)
			after := reopenAndDump(t, path)
			if after == before {
				t.Fatal("the command was lost by a kill after its commit")
			}
			s, err := OpenWith(path, Config{Logger: quiet})
			must(t, err)
			defer s.Close()
			apply(t, s, batch) // a caller sends it again, because its answer was lost
			if got := dump(t, s); got != after {
				t.Errorf("the repeated command changed the store; before:\n%s\nafter:\n%s", after, got)
			}
		})
	}
}

// prepareFile prepares a scenario in a file and closes the store.
func prepareFile(t *testing.T, sc scenario, path string) (rota.Batch, string) {
	t.Helper()
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	return sc.prepare(t, s), dump(t, s)
}

// killAt runs a child that kills itself before its n-th statement, or after its commit. It returns
// false if the command has fewer statements.
func killAt(t *testing.T, path string, batch rota.Batch, n int) bool {
	t.Helper()
	encoded, err := codec.AppendBatch(nil, batch)
	must(t, err)
	file := filepath.Join(t.TempDir(), "batch")
	must(t, os.WriteFile(file, encoded, 0o600))
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), envKillStore+"="+path, envKillBatch+"="+file, envKillAt+"="+strconv.Itoa(n))
	child.Stderr = os.Stderr
	err = child.Run()
	if err == nil {
		return false
	}
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %v", err)
	}
	return true
}

// applyAndKillSelf is the child process. It exits normally if the batch has fewer statements.
func applyAndKillSelf(path string) {
	killSelf := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	at, _ := strconv.Atoi(os.Getenv(envKillAt))
	encoded, err := os.ReadFile(os.Getenv(envKillBatch))
	exitOnError(err)
	batch, err := codec.DecodeBatch(encoded)
	exitOnError(err)
	s, err := OpenWith(path, Config{Logger: quiet, injectFault: func(statement int) error {
		if statement == at {
			killSelf()
			select {}
		}
		return nil
	}})
	exitOnError(err)
	_, err = s.Apply(context.Background(), batch)
	exitOnError(err)
	if at == 0 {
		killSelf()
		select {}
	}
	os.Exit(0)
}

func exitOnError(err error) {
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(9)
	}
}
