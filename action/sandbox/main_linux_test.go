//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test executable is also the program that tries to escape, and the server that is killed.
const (
	attackMode = "attack"
	serveMode  = "serve"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case attackMode:
			os.Exit(attack(os.Args[2], os.Args[3:]))
		case serveMode:
			os.Exit(serve(Isolation(os.Args[2]), os.Args[3]))
		}
	}
	os.Exit(m.Run())
}

// userVariable names the variable with a directory that the tests of an ordinary user may use.
const userVariable = "ROTA_TEST_SANDBOX_DIR"

// TestAllAgainAsOrdinaryUser repeats all tests without root.
func TestAllAgainAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: the tests run as an ordinary user already")
	}
	const uid = 54321
	dir, err := os.MkdirTemp(trustedRoot(t), "rota-sandbox-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.short="+fmt.Sprint(testing.Short()))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), userVariable+"="+dir, setuidVariable+"="+setuidCopy(t), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as user %d: %v\n%s", uid, err, out)
	}
	reportSkips(t, string(out))
}

// setuidVariable names the variable with a copy of the test executable that runs as root even if another user starts it.
const setuidVariable = "ROTA_TEST_SANDBOX_SETUID"

func setuidCopy(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := trustedDir(t)
	chmod(t, dir, 0o755)
	write(t, dir+"/test", string(text), 0o755)
	chmod(t, dir+"/test", 0o755|os.ModeSetuid)
	return dir + "/test"
}

// reportSkips makes the skipped tests of another process tests of this one, so that they are counted.
func reportSkips(t *testing.T, output string) {
	t.Helper()
	test, reasons := "", map[string]string{}
	for line := range strings.Lines(output) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "===" {
			test = fields[2]
		}
		if _, text, is := strings.Cut(line, "_test.go:"); is {
			_, reasons[test], _ = strings.Cut(strings.TrimSpace(text), ": ")
		}
		if _, name, is := strings.Cut(line, "--- SKIP: "); is && !strings.Contains(name, "TestAllAgain") {
			name, _, _ = strings.Cut(name, " (")
			t.Run(name, func(t *testing.T) { t.Skip(reasons[name]) })
		}
	}
}

// trustedRoot returns a directory in which only root and this user can create files, as all directories around it.
func trustedRoot(t *testing.T) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, dir := range []string{os.Getenv(userVariable), "/var/lib", "/opt", home} {
		if dir == "" {
			continue
		}
		probe, err := os.MkdirTemp(dir, "probe-")
		if err != nil {
			continue
		}
		defer os.Remove(probe)
		if _, _, err := checkWay(filepath.Join(probe, "x"), nil); err != nil && strings.Contains(err.Error(), "does not exist") {
			return dir
		}
	}
	t.Skip("skipped: no directory that only root and this user can write")
	return ""
}

func trustedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(trustedRoot(t), "rota-sandbox-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// eachIsolation runs a test with the isolations that this system supports.
func eachIsolation(t *testing.T, test func(*testing.T, Isolation)) {
	for _, isolation := range []Isolation{Full, Landlock, None} {
		t.Run(string(isolation), func(t *testing.T) {
			needs(t, isolation)
			test(t, isolation)
		})
	}
}

// needs skips the test if this system does not support an isolation.
func needs(t *testing.T, isolation Isolation) {
	t.Helper()
	if _, err := Probe(isolation); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("skipped:", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// program opens a program without the checks of Open.
func program(t *testing.T, path string) *Program {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(real, openFlags|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{name: path, path: real, file: os.NewFile(uintptr(fd), real)}
	t.Cleanup(func() { p.Close() })
	return p
}

// self is the test executable. Its directory may be closed to this user.
func self(t *testing.T) *Program {
	t.Helper()
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open("/proc/self/exe", openFlags|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{name: path, path: path, file: os.NewFile(uintptr(fd), path)}
	t.Cleanup(func() { p.Close() })
	return p
}

func policy(isolation Isolation) Policy { return Policy{Isolation: isolation, Read: DefaultRead()} }

var plainEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

// execute runs a command to its end, and returns its output.
func execute(t *testing.T, c Command) (Exit, string) {
	t.Helper()
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout, c.Stderr = &out, &out
	}
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = p.Kill() })
	defer timer.Stop()
	exit, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if exit.Killed {
		t.Fatalf("did not end within a minute: %s", out.String())
	}
	return exit, out.String()
}

func shell(t *testing.T, p Policy, script string) (Exit, string) {
	t.Helper()
	return execute(t, Command{Program: program(t, "/bin/sh"), Args: []string{"-c", script}, Env: plainEnv, Policy: p})
}

// within10s waits for a condition.
func within10s(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// withArgument returns the processes that have an argument.
func withArgument(arg string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		line, _ := os.ReadFile(dir + "/cmdline")
		if bytes.Contains(append([]byte{0}, line...), []byte("\x00"+arg+"\x00")) {
			var pid int
			fmt.Sscan(filepath.Base(dir), &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

// execCommand starts a process of its own group without a sandbox.
func execCommand(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}
