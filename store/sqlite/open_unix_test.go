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

// envOpen is the path of the store that a child process opens. The child prints the result and
// waits until it is killed.
const envOpen = "ROTA_TEST_HOLD"

// init runs the child process instead of the tests.
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

// openInChild starts a child process that opens the store, and returns the line that it prints.
func openInChild(t *testing.T, path string, as *syscall.SysProcAttr) (child *exec.Cmd, output string) {
	t.Helper()
	child = exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), envOpen+"="+path)
	child.SysProcAttr = as
	out, err := child.StdoutPipe()
	must(t, err)
	if err := child.Start(); err != nil {
		t.Skipf("a child process cannot be started as this user: %v", err)
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
	t.Run("Open succeeds after the holder is killed", func(t *testing.T) {
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

// TestOpenWithoutWritePermissionIsRefused opens the store as another user if it runs as root,
// because root ignores file permissions.
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
		if !strings.HasPrefix(output, "unavailable ") || !strings.Contains(output, "give this process write permission") {
			t.Error(output)
		}
	})
	t.Run("to the directory", func(t *testing.T) {
		must(t, os.Remove(path+".lock"))
		must(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o755)
		_, output := openInChild(t, path, as)
		if !strings.HasPrefix(output, "unavailable ") || !strings.Contains(output, "this process can write to it") {
			t.Error(output)
		}
	})
}

// makeReachable gives other users access to a directory. It changes only temporary directories of
// tests.
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

// TestFullDiskRefusesBatchAndLosesNothing fills a small disk. Apply returns an error, no part of
// the batch is stored, and the store continues after space is freed.
func TestFullDiskRefusesBatchAndLosesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
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
			t.Fatal("the disk does not get full")
		}
	}
	checkError(t, full, rota.Unavailable, "the disk is full", "free disk space")
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
		t.Error("the reopened store has no jobs")
	}
}

// TestOpenOnFullDiskIsRefused opens a store on a full disk: SQLite cannot create the -shm file and
// reports that as an I/O error.
func TestOpenOnFullDiskIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(dir) })
	path := filepath.Join(dir, "rota.db")
	must(t, reopen(path))
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, bytes.Repeat([]byte{1}, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	checkError(t, reopen(path), rota.Unavailable, "the disk is full", "free disk space")
	must(t, os.Remove(filler))
	must(t, reopen(path))
}

// TestBackupToFullDiskLeavesNothing backs up to a disk that is too small.
func TestBackupToFullDiskLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(dir) })
	s := openTest(t, Config{})
	enqueueBulk(t, s, 15)
	path := filepath.Join(dir, "copy.db")
	checkError(t, s.Backup(t.Context(), path, nil), rota.Unavailable, "the disk is full", "free disk space")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("files are left: %v, %v", entries, err)
	}
	enqueueBulk(t, s, 1)
	verifyClean(t, s)
}

// TestNewFileIsPrivateAndReadableFileIsWarnedOf creates a store with umask 0: the file and the
// files beside it are readable only for this user. If all users can read an existing file, Open
// logs a warning, unless its directory prevents access, and does not change the mode.
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
				t.Errorf("%s has mode %s", name, info.Mode())
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
		if log := open(); strings.Contains(log, "every user of this machine can read the store") != test.warns {
			t.Errorf("in a directory with mode %s it logs %q", test.dir, log)
		}
		modes(0o644)
	}
}
