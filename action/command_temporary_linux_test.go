package action

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rotajobs/rota/action/sandbox"
)

// asOrdinaryUser repeats a test of root in a process without its rights, since root can ignore the modes of files.
func asOrdinaryUser(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const uid = 54321
	dir, err := os.MkdirTemp("", "rota-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as user %d: %v\n%s", uid, err, out)
	}
}

// TestTemporaryDirectoryIsRemoved runs as an ordinary user, too: root removes read-only directories without changing their mode.
func TestTemporaryDirectoryIsRemoved(t *testing.T) {
	asOrdinaryUser(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin"}, Isolation: sandbox.None}})
	job := e.exec(shell(`mkdir -p $TMPDIR/a/b; ln -s /usr $TMPDIR/a/link; echo x > $TMPDIR/a/b/file; chmod 500 $TMPDIR/a/b $TMPDIR/a $TMPDIR; echo $TMPDIR`))
	if !strings.HasPrefix(e.logs.of(job.ID), temporary) {
		t.Errorf("TMPDIR is %s", e.logs.of(job.ID))
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestRemovalDoesNotFollowExchangedDirectory: a process that the program left behind exchanges the directory for a link.
func TestRemovalDoesNotFollowExchangedDirectory(t *testing.T) {
	asOrdinaryUser(t)
	t.Setenv("TMPDIR", t.TempDir())
	victim := t.TempDir()
	kept := filepath.Join(victim, "kept")
	if err := os.Mkdir(kept, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(victim, 0o550); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(victim, 0o700) })
	tmp, err := newTemporary(nil)
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(tmp.path, "a")
	if err := os.MkdirAll(filepath.Join(inside, "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(inside, 0o500); err != nil {
		t.Fatal(err)
	}
	moved := tmp.path + "-moved"
	if err := os.Rename(tmp.path, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, tmp.path); err != nil {
		t.Fatal(err)
	}
	tmp.remove()
	for path, want := range map[string]os.FileMode{victim: 0o550, kept: 0o500} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if left, err := os.ReadDir(moved); err != nil || len(left) > 0 {
		t.Errorf("the directory of the program still has %v, %v", left, err)
	}
}

// TestLeftTemporaryDirectoriesAreRemovedAtStart: what a killed server has left is removed, and nothing else.
func TestLeftTemporaryDirectoriesAreRemovedAtStart(t *testing.T) {
	base, victim := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", base)
	running, err := newTemporary(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.remove)
	left, err := newTemporary(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := left.lock.Close(); err != nil { // as the kernel does when the server is killed
		t.Fatal(err)
	}
	if err := left.root.Close(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, temporaryPrefix+strings.Repeat("A", 26))
	other := filepath.Join(base, temporaryPrefix+"mine")
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(left.path, "a"), filepath.Join(victim, "a"), other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := OpenCommands(CommandConfig{CommandRules: CommandRules{Isolation: sandbox.None}}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{running.path: true, left.path: false, link: true, filepath.Join(victim, "a"): true, other: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s exists: %v, want %v", path, err == nil, want)
		}
	}
}
