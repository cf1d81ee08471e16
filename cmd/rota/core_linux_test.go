package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// allowCores lets the processes that the test starts write core files, as far as the machine allows it.
func allowCores(t *testing.T) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: before.Max, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &before) })
}

// cores returns the core files in a directory.
func cores(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*core*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantNoMemoryInCores reads the limit and the filter of a process.
func wantNoMemoryInCores(t *testing.T, pid int) {
	t.Helper()
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "Max core file size") && (fields[4] != "0" || fields[5] != "0") {
			t.Errorf("%s", line)
		}
	}
	filter, err := os.ReadFile(fmt.Sprintf("/proc/%d/coredump_filter", pid))
	if err == nil && strings.Trim(string(filter), "0\n") != "" {
		t.Errorf("the filter is %s", filter)
	}
}

// TestCrashOfAServerLeavesNoMemory: a server that holds a key and has opened secrets ends as if by a bug. The same signal ends a
// shell, which leaves a core file where the machine writes any.
func TestCrashOfAServerLeavesNoMemory(t *testing.T) {
	allowCores(t)
	control := exec.Command("/bin/sh", "-c", "kill -ABRT $$")
	control.Dir = t.TempDir()
	_ = control.Run() // it ends by the signal
	s := &testServer{t: t, data: filepath.Join(t.TempDir(), "data"), env: []string{"GOTRACEBACK=crash"}}
	s.start()
	s.must("template create backup --type noop")
	s.setSecret("backup/DB_PASSWORD", programSecret)
	wantNoMemoryInCores(t, s.process.Process.Pid)
	if err := s.process.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	_ = s.process.Wait() // as above
	if status, is := s.process.ProcessState.Sys().(syscall.WaitStatus); !is || !status.Signaled() || status.CoreDump() {
		t.Errorf("the server ended with %v", s.process.ProcessState)
	}
	if found := cores(t, s.process.Dir); len(found) > 0 {
		t.Errorf("the server left %v", found)
	}
	if !strings.Contains(s.errs.String(), "SIGABRT") || bytes.Contains(s.errs.Bytes(), []byte(programSecret)) {
		t.Errorf("the server wrote\n%.2000s", s.errs)
	}
	if len(cores(t, control.Dir)) == 0 {
		t.Skip("skipped: this machine writes no core files to the working directory; the limit and the filter were read")
	}
}
