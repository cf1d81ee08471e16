//go:build unix

package sqlite

import (
	"bufio"
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// envOpen is the file that a child process opens; it says how that went and
// waits for its end.
const envOpen = "ROTA_TEST_HOLD"

// init runs the child before any test does.
func init() {
	path := os.Getenv(envOpen)
	if path == "" {
		return
	}
	_, err := OpenWith(path, Config{Logger: quiet})
	if err != nil {
		_, _ = os.Stdout.WriteString(string(rota.CodeOf(err)) + " " + err.Error() + "\n")
		os.Exit(0)
	}
	_, _ = os.Stdout.WriteString("held\n")
	select {}
}

// openInChild starts a child that opens the store, and returns what it says.
func openInChild(t *testing.T, path string, as *syscall.SysProcAttr) (child *exec.Cmd, output string) {
	t.Helper()
	child = exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), envOpen+"="+path)
	child.SysProcAttr = as
	out, err := child.StdoutPipe()
	must(t, err)
	if err := child.Start(); err != nil {
		t.Skipf("a child cannot be started so: %v", err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return child, strings.TrimSpace(line)
}

func TestSecondProcessIsRefusedWithPIDOfHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	child, output := openInChild(t, path, nil)
	if output != "held" {
		t.Fatal(output)
	}
	for _, config := range []Config{{}, {ReadOnly: true}} {
		_, err := OpenWith(path, config)
		checkError(t, err, rota.Busy, "held by process "+strconv.Itoa(child.Process.Pid), "stop that process")
	}
	t.Run("until that is killed", func(t *testing.T) {
		must(t, child.Process.Kill())
		_ = child.Wait()
		s, err := OpenWith(path, Config{Logger: quiet})
		must(t, err)
		must(t, s.Close())
	})
}

func TestSecondOpenInOneProcessIsRefused(t *testing.T) {
	s := openTest(t, Config{})
	_, err := Open(s.path)
	checkError(t, err, rota.Busy, "held by process "+strconv.Itoa(os.Getpid()))
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
}

// TestOpenWithoutWritePermissionIsRefused runs as a user who has none: for root, as
// which tests may run, permission bits do not bind.
func TestOpenWithoutWritePermissionIsRefused(t *testing.T) {
	var as *syscall.SysProcAttr
	if os.Getuid() == 0 {
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "rota.db")
	s, err := Open(path)
	must(t, err)
	must(t, s.Close())
	makeReachable(t, dir)
	makeReachable(t, filepath.Dir(os.Args[0]))
	t.Run("to the file", func(t *testing.T) {
		must(t, os.Chmod(dir, 0o777))
		must(t, os.Chmod(path, 0o444))
		must(t, os.Chmod(path+".lock", 0o666))
		_, output := openInChild(t, path, as)
		if !strings.HasPrefix(output, "unavailable ") || !strings.Contains(output, "give this process the right to write") {
			t.Error(output)
		}
	})
	t.Run("to the directory", func(t *testing.T) {
		must(t, os.Remove(path+".lock"))
		must(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o755)
		_, output := openInChild(t, path, as)
		if !strings.HasPrefix(output, "unavailable ") || !strings.Contains(output, "this process may write there") {
			t.Error(output)
		}
	})
}

// makeReachable lets another user pass through to a directory. It opens only what
// tests have made below the directory for such things.
func makeReachable(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		must(t, err)
		if info.Mode().Perm()&0o001 != 0 {
			continue
		}
		if !strings.HasPrefix(dir, filepath.Clean(os.TempDir())+"/") {
			t.Skipf("another user cannot reach %s", dir)
		}
		must(t, os.Chmod(dir, info.Mode().Perm()|0o011))
	}
}

// TestFullDiskRefusesBatchAndLosesNothing fills a small disk to the last page. The refusal says so,
// nothing half is left, and with space freed the store works on.
func TestFullDiskRefusesBatchAndLosesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(dir) })
	s, err := OpenWith(filepath.Join(dir, "rota.db"), Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	filler := filepath.Join(dir, "filler")
	must(t, os.WriteFile(filler, bytes.Repeat([]byte{1}, 1<<20), 0o600))
	var full error
	accepted := 0
	var lost rota.Batch
	for n := 0; full == nil; n++ {
		lost = at(time.Duration(n)*time.Second, enqueue(make50()...))
		if _, full = s.Apply(t.Context(), lost); full == nil {
			accepted += 50
		}
		if n > 1000 {
			t.Fatal("the disk is never full")
		}
	}
	checkError(t, full, rota.Unavailable, "the disk is full", "free some space")
	if got := countJobs(t, s); got != accepted {
		t.Errorf("%d jobs are there, %d were accepted", got, accepted)
	}
	must(t, os.Remove(filler))
	apply(t, s, lost)
	if got := countJobs(t, s); got != accepted+50 {
		t.Errorf("%d jobs are there, %d were accepted", got, accepted+50)
	}
	verifyClean(t, s)
	must(t, s.Close())
	if got := reopenAndDump(t, s.path); !strings.Contains(got, "mail") {
		t.Error("nothing is there after it was opened again")
	}
}

// TestOpenOnFullDiskIsRefused: what SQLite needs beside the file finds no room, which it
// reports as if the disk had failed.
func TestOpenOnFullDiskIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(dir) })
	path := filepath.Join(dir, "rota.db")
	must(t, reopen(path))
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, bytes.Repeat([]byte{1}, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	checkError(t, reopen(path), rota.Unavailable, "the disk is full", "free some space")
	must(t, os.Remove(filler))
	must(t, reopen(path))
}

// TestBackupToFullDiskLeavesNothing leaves the disk as it was, and says why.
func TestBackupToFullDiskLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(dir) })
	s := openTest(t, Config{})
	enqueueBulk(t, s, 15)
	path := filepath.Join(dir, "copy.db")
	checkError(t, s.Backup(t.Context(), path, nil), rota.Unavailable, "the disk is full", "free some space")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	enqueueBulk(t, s, 1)
	verifyClean(t, s)
}

func countJobs(t *testing.T, s *Store) int {
	t.Helper()
	last := rota.Checked{}
	for v, err := range s.VerifyProgress(t.Context(), func(c rota.Checked) { last = c }) {
		must(t, err)
		t.Errorf("%+v", v)
	}
	return last.Jobs
}

// TestNewFileIsPrivateAndReadableFileIsWarnedOf, whatever the mask allows, and so is what SQLite
// keeps beside it. One that everybody can read is warned of, where they can reach
// it, and left as it is.
func TestNewFileIsPrivateAndReadableFileIsWarnedOf(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	path := filepath.Join(dir, "rota.db")
	must(t, os.Symlink("real.db", path))
	open := func() string {
		var log bytes.Buffer
		s, err := OpenWith(path, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		must(t, err)
		defer s.Close()
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
		return log.String()
	}
	modes := func(want os.FileMode) {
		t.Helper()
		for _, name := range []string{"real.db", "real.db-wal", "real.db-shm"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().Perm() != want {
				t.Errorf("%s has the mode %s", name, info.Mode())
			}
		}
	}
	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	modes(0o600)
	must(t, s.Close())
	must(t, os.Chmod(filepath.Join(dir, "real.db"), 0o644))
	for _, test := range []struct {
		dir   os.FileMode
		warns bool
	}{{0o755, true}, {0o700, false}} {
		must(t, os.Chmod(dir, test.dir))
		if log := open(); strings.Contains(log, "everybody on this machine can read the store") != test.warns {
			t.Errorf("in a directory of the mode %s it says %q", test.dir, log)
		}
		modes(0o644)
	}
}
