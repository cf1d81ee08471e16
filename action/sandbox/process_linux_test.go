//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProgramGetsArgumentsEnvironmentAndInput(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		var out, errs, result bytes.Buffer
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Policy: policy(isolation), Dir: "/usr/bin",
			Args:  []string{"-c", `pwd; echo "$0|$1|$2"; cat; env | grep -vE '^(PWD|_|SHLVL|OLDPWD)=' | sort; echo '{"n":1}' >&3; echo problem >&2; exit 7`, "a", "b c", ""},
			Env:   []string{"A=1", "PATH=/usr/bin:/bin"},
			Stdin: strings.NewReader("input\n"), Stdout: &out, Stderr: &errs, Result: &result,
		})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := p.Wait()
		if err != nil || exit.Code != 7 || exit.Signal != 0 || exit.Killed || exit.MemoryKB == 0 {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if want := "/usr/bin\na|b c|\ninput\nA=1\nPATH=/usr/bin:/bin\nROTA_RESULT_FD=3\n"; out.String() != want {
			t.Errorf("output %q, want %q", out.String(), want)
		}
		if errs.String() != "problem\n" || result.String() != "{\"n\":1}\n" {
			t.Errorf("errors %q, result %q", errs.String(), result.String())
		}
	})
}

func TestEmptyEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("ROTA_TEST_LEAK", "1")
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		exit, out := execute(t, Command{Program: program(t, "/usr/bin/env"), Policy: policy(isolation)})
		if exit.Code != 0 || out != "" {
			t.Errorf("exit %+v, environment %q", exit, out)
		}
	})
}

// A variable that changes how Go programs run must not change the shim.
func TestEnvironmentOfProgramDoesNotReachShim(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		exit, out := execute(t, Command{
			Program: program(t, "/bin/true"), Env: []string{"GODEBUG=inittrace=1", "LD_PRELOAD=/none.so", "GOTRACEBACK=crash"}, Policy: policy(isolation),
		})
		if exit.Code != 0 || strings.Contains(out, "init ") {
			t.Errorf("exit %+v, output %q", exit, out)
		}
	})
}

// A job cannot set LD_PRELOAD. That matters, since the loader of the system obeys it.
func TestLoaderObeysVariablesOfProgram(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		_, out := execute(t, Command{Program: program(t, "/bin/ls"), Args: []string{"/"}, Env: []string{"LD_PRELOAD=/none.so"}, Policy: policy(isolation)})
		if glibc, _ := filepath.Glob("/lib*/ld-linux*"); len(glibc) == 0 {
			t.Skip("skipped: this system has another loader than that of glibc")
		}
		if !strings.Contains(out, "/none.so") {
			t.Errorf("the loader did not look for the library: %s", out)
		}
	})
}

func TestLargeSettingsArrive(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		args := []string{"-c", `echo $#`, "sh"}
		for range 10_000 {
			args = append(args, strings.Repeat("x", 100))
		}
		exit, out := execute(t, Command{Program: program(t, "/bin/sh"), Args: args, Policy: policy(isolation)})
		if exit.Code != 0 || out != "10000\n" {
			t.Errorf("exit %+v, output %q", exit, out)
		}
	})
}

func TestProgramThatCannotRunIsError(t *testing.T) {
	dir := trustedDir(t)
	write(t, dir+"/broken", "no program", 0o755)
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		_, err := Start(Command{Program: program(t, dir+"/broken"), Policy: policy(isolation)})
		if err == nil || !strings.Contains(err.Error(), "exec format error") || !strings.Contains(err.Error(), dir+"/broken") {
			t.Errorf("got %v", err)
		}
		_, err = Start(Command{Program: program(t, "/bin/true"), Dir: "/does/not/exist", Policy: policy(isolation)})
		if err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTerminateReachesProgramAndItsGroup(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		out, w := io.Pipe()
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Env: plainEnv, Policy: policy(isolation), Stdout: w,
			Args: []string{"-c", `trap 'echo stopping; exit 5' TERM; echo ready; while :; do sleep 0.01; done`},
		})
		if err != nil {
			t.Fatal(err)
		}
		awaitLine(t, out, "ready")
		if err := p.Terminate(); err != nil {
			t.Fatal(err)
		}
		awaitLine(t, out, "stopping")
		exit, err := p.Wait()
		if err != nil || exit.Code != 5 || exit.Killed {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if err := errors.Join(p.Terminate(), p.Kill()); err != nil {
			t.Errorf("signals after the end: %v", err)
		}
	})
}

func TestSignalThatEndsProgramIsReported(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		exit, _ := shell(t, policy(isolation), "kill -USR1 $$")
		if exit.Signal != syscall.SIGUSR1 || exit.Code != -1 {
			t.Errorf("exit %+v", exit)
		}
	})
}

func awaitLine(t *testing.T, r io.Reader, want string) {
	t.Helper()
	buf := make([]byte, len(want)+1)
	if _, err := io.ReadFull(r, buf); err != nil || string(buf) != want+"\n" {
		t.Fatalf("got %q, %v; want %q", buf, err, want)
	}
}

// detach starts a sleeping process in a session of a session, whose parents have all ended. It holds no pipe.
func detach(mark string) string {
	inner := fmt.Sprintf("sleep 600 %s >/dev/null 2>&1 </dev/null 3>&- &", mark)
	return fmt.Sprintf("setsid sh -c 'setsid sh -c \"%s\" &' & ", inner)
}

// mark is a number of seconds that no other process sleeps, so that it can be found.
func mark() string { return fmt.Sprintf("0.%d", time.Now().UnixNano()) }

func awaitSleeper(t *testing.T, mark string) {
	t.Helper()
	within10s(t, "the sleeper runs", func() bool { return len(withArgument(mark)) == 1 })
}

func TestNothingSurvivesKill(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		mark := mark()
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Args: []string{"-c", detach(mark) + "sleep 600"}, Env: plainEnv, Policy: policy(isolation),
		})
		if err != nil {
			t.Fatal(err)
		}
		awaitSleeper(t, mark)
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		exit, err := p.Wait()
		if err != nil || exit.Signal != syscall.SIGKILL || !exit.Killed {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if left := withArgument(mark); len(left) > 0 {
			t.Errorf("processes %v have survived", left)
		}
	})
}

func TestNothingSurvivesEndOfProgram(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		mark := mark()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Args: []string{"-c", detach(mark) + "read line; exit 3"}, Env: plainEnv, Policy: policy(isolation), Stdin: r,
		})
		if err != nil {
			t.Fatal(err)
		}
		awaitSleeper(t, mark)
		w.Close()
		exit, err := p.Wait()
		if err != nil || exit.Code != 3 {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if left := withArgument(mark); len(left) > 0 {
			t.Errorf("processes %v have survived", left)
		}
	})
}

// The two tests above can fail: killing only the program leaves the sleeper.
func TestDetachedProcessSurvivesPlainKill(t *testing.T) {
	mark := mark()
	cmd := execCommand("/bin/sh", "-c", detach(mark)+"sleep 600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitSleeper(t, mark)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	left := withArgument(mark)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if len(left) != 1 {
		t.Errorf("processes %v have survived, want one", left)
	}
}

// A process whose number changes all the time is in no list of processes.
func TestNothingSurvivesThatForksAndEndsAllTheTime(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		for range 3 {
			h := holdInput(t)
			exit, out := execute(t, Command{Program: self(t), Args: []string{attackMode, "comets"}, Env: plainEnv, Policy: policy(isolation), Stdin: h.r})
			if exit.Code != attackWorked {
				t.Fatalf("exit %+v: %s", exit, out)
			}
			if h.isHeld(t) {
				t.Error("it has survived")
			}
		}
	})
}

// The test above can fail.
func TestProcessThatForksAndEndsAllTheTimeSurvivesPlainKill(t *testing.T) {
	h := holdInput(t)
	cmd := execCommand("/proc/self/exe", attackMode, "comets")
	cmd.Stdin = h.r
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if !h.isHeld(t) {
		t.Error("it has not survived")
	}
}

// heldInput is a pipe. It shows whether a process still holds the end to read from.
type heldInput struct{ r, w *os.File }

func holdInput(t *testing.T) *heldInput {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return &heldInput{r, w}
}

func (h *heldInput) isHeld(t *testing.T) bool {
	t.Helper()
	h.r.Close()
	_, err := h.w.Write([]byte("x"))
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err)
	}
	return err == nil
}

// serve is the server of the next test.
func serve(isolation Isolation, mark string) int {
	path, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		return 1
	}
	fd, err := syscall.Open(path, openFlags|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 1
	}
	_, err = Start(Command{
		Program: &Program{name: "/bin/sh", path: path, file: os.NewFile(uintptr(fd), path)},
		Args:    []string{"-c", detach(mark) + "sleep 600 " + mark + ".1"}, Env: plainEnv, Policy: policy(isolation),
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	select {}
}

func TestNothingSurvivesKilledServer(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		mark := mark()
		server := execCommand("/proc/self/exe", serveMode, string(isolation), mark)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		awaitSleeper(t, mark)
		_ = server.Process.Kill()
		_ = server.Wait()
		within10s(t, "everything has ended", func() bool { return len(withArgument(mark))+len(withArgument(mark+".1")) == 0 })
	})
}

func TestShimReapsOrphans(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		const list = `cat /proc/[0-9]*/stat 2>/dev/null`
		const script = `for i in 1 2 3 4 5 6 7 8 9 10; do (sh -c 'sleep 0.01 & :' &); done; echo $PPID; sleep 0.3; ` + list + `; echo again; sleep 0.3; ` + list
		_, out := shell(t, policy(isolation), script)
		shim, lists, _ := strings.Cut(out, "\n")
		before, after, _ := strings.Cut(lists, "again\n")
		if !strings.Contains("\n"+before, "\n"+shim+" (") {
			t.Errorf("the shim %s is not listed", shim)
		}
		again := zombiesOf(shim, after)
		for _, pid := range zombiesOf(shim, before) { // one that is about to be reaped is in the first list only
			if slices.Contains(again, pid) {
				t.Errorf("process %s is a zombie", pid)
			}
		}
	})
}

// zombiesOf returns the zombies with a parent in a list of lines of /proc/PID/stat.
func zombiesOf(parent, list string) (pids []string) {
	for line := range strings.Lines(list) {
		before, after, _ := strings.Cut(line, ") ")
		if pid, _, is := strings.Cut(before, " ("); is && strings.HasPrefix(after, "Z "+parent+" ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestManyStartsLeaveNothing(t *testing.T) {
	starts := 1000
	if testing.Short() {
		starts = 100
	}
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		truth := program(t, "/bin/true")
		once := func() {
			p, err := Start(Command{Program: truth, Policy: policy(isolation), Stdout: io.Discard, Result: io.Discard, Stdin: strings.NewReader("x")})
			if err != nil {
				t.Fatal(err)
			}
			if exit, err := p.Wait(); err != nil || exit.Code != 0 {
				t.Fatalf("exit %+v, %v", exit, err)
			}
		}
		for range 5 {
			once()
		}
		var files, goroutines int
		within10s(t, "the goroutines have ended", func() bool { files, goroutines = openFiles(t), runtime.NumGoroutine(); return zombies(t) == 0 })
		for range starts {
			once()
		}
		within10s(t, "no more descriptors, goroutines and zombies", func() bool {
			return openFiles(t) <= files && runtime.NumGoroutine() <= goroutines && zombies(t) == 0
		})
		left, _ := filepath.Glob(fmt.Sprintf("%s/%s%d-*", groupDir(), groupPrefix, os.Getpid()))
		if len(left) > 0 {
			t.Errorf("cgroups are left: %s", left)
		}
	})
}

func groupDir() string {
	if tree := findTree(); tree != nil {
		return tree.path
	}
	return "/does/not/exist"
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// zombies counts the children of this process that nobody has waited for.
func zombies(t *testing.T) (count int) {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err != nil {
			continue
		}
		var state string
		var parent int
		fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &state, &parent)
		if state == "Z" && parent == os.Getpid() {
			count++
		}
	}
	return count
}

func TestOutputEndsWhenProgramClosesIt(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Args: []string{"-c", "exec >&- 2>&-; exec sleep 600"}, Env: plainEnv, Policy: policy(isolation), Stdout: w,
		})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); len(text) > 0 || err != nil { // ends although the program runs
			t.Errorf("read %q, %v", text, err)
		}
		_ = p.Kill()
		_, _ = p.Wait()
	})
}

// A stopped reader must not delay the end.
func TestInputThatNeverEndsDoesNotDelayEnd(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		in, w := io.Pipe()
		defer w.Close()
		exit, _ := execute(t, Command{Program: program(t, "/bin/true"), Policy: policy(isolation), Stdin: in})
		if exit.Code != 0 {
			t.Errorf("exit %+v", exit)
		}
	})
}

func TestUserOfPolicyRunsProgram(t *testing.T) {
	if os.Geteuid() != 0 {
		_, err := Start(Command{Program: program(t, "/bin/true"), Policy: Policy{User: &User{UID: 1, GID: 1}}})
		if err == nil || !strings.Contains(err.Error(), "root") {
			t.Errorf("got %v", err)
		}
		return
	}
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		p := policy(isolation)
		p.User = &User{UID: 1234, GID: 2345, Groups: []uint32{3456}}
		exit, out := shell(t, p, "id -u; id -g; id -G; grep Cap /proc/self/status")
		if exit.Code != 0 || !strings.HasPrefix(out, "1234\n2345\n2345 3456\n") {
			t.Errorf("exit %+v: %s", exit, out)
		}
		if !strings.Contains(out, "CapEff:\t0000000000000000") {
			t.Errorf("the user has capabilities: %s", out)
		}
		exit, out = shell(t, p, "echo x > /tmp/x && cat /tmp/x")
		if isolation == Full && (exit.Code != 0 || out != "x\n") {
			t.Errorf("the user cannot write its /tmp: %s", out)
		}
	})
}

func TestProcessesOfOtherUserDieWithProgram(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can run programs as another user")
	}
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		mark := mark()
		pol := policy(isolation)
		pol.User = &User{UID: 1234, GID: 2345}
		p, err := Start(Command{Program: program(t, "/bin/sh"), Args: []string{"-c", detach(mark) + "sleep 600"}, Env: plainEnv, Policy: pol})
		if err != nil {
			t.Fatal(err)
		}
		awaitSleeper(t, mark)
		if err := p.Terminate(); err != nil {
			t.Fatal(err)
		}
		exit, err := p.Wait()
		if err != nil || exit.Signal != syscall.SIGTERM {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if left := withArgument(mark); len(left) > 0 {
			t.Errorf("processes %v have survived", left)
		}
	})
}
