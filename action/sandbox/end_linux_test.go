//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota/action/sandbox/internal/shim"
	"golang.org/x/sys/unix"
)

// withoutCgroups makes programs start as on a system where the server cannot create cgroups.
func withoutCgroups(t *testing.T) {
	t.Helper()
	before := findTree
	findTree = func() *tree { return nil }
	t.Cleanup(func() { findTree = before })
}

// waitWithin fails the test if Wait does not return in time.
func waitWithin(t *testing.T, p *Process, most time.Duration) (exit Exit, err error) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		exit, err = p.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(most):
		t.Fatalf("Wait has not returned after %s", most)
	}
	return exit, err
}

func killAll(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// The kernel kills a shim first if the machine has no memory left.
func TestNothingOfSessionSurvivesKilledShim(t *testing.T) {
	withoutCgroups(t)
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		mark := mark()
		var out, result bytes.Buffer
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Args: []string{"-c", "sleep 600 " + mark + " & sleep 601"}, Env: plainEnv, Policy: policy(isolation),
			Stdout: &out, Stderr: &out, Result: &result,
		})
		if err != nil {
			t.Fatal(err)
		}
		awaitSleeper(t, mark)
		_ = p.cmd.Process.Kill()
		exit, err := waitWithin(t, p, endMax/2)
		if err != nil || exit.Signal != syscall.SIGKILL {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if left := withArgument(mark); len(left) > 0 {
			killAll(left)
			t.Errorf("processes %v have survived", left)
		}
	})
}

// A process in a session of its own cannot be found without the shim. It must not delay the end of the job.
func TestSurvivorOfKilledShimDoesNotHoldOutput(t *testing.T) {
	withoutCgroups(t)
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		if isolation == Full {
			t.Skip("skipped: the kernel ends everything with the shim")
		}
		mark := mark()
		var out, result bytes.Buffer
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Args: []string{"-c", "setsid sleep 600 " + mark + " & sleep 601"}, Env: plainEnv, Policy: policy(isolation),
			Stdout: &out, Stderr: &out, Result: &result,
		})
		if err != nil {
			t.Fatal(err)
		}
		if p.cmd.WaitDelay != endMax {
			t.Errorf("Wait is bounded by %s", p.cmd.WaitDelay)
		}
		p.cmd.WaitDelay = 100 * time.Millisecond
		awaitSleeper(t, mark)
		t.Cleanup(func() { killAll(withArgument(mark)) })
		_ = p.cmd.Process.Kill()
		if exit, _ := waitWithin(t, p, endMax/2); exit.Signal != syscall.SIGKILL {
			t.Errorf("exit %+v", exit)
		}
	})
}

// becomeRoot is a script that starts a process of root, whose number the shim of an ordinary user cannot signal.
const becomeRoot = `"$1" ` + attackMode + ` "become root" & until grep -q "^Uid:.0.0.0" /proc/$!/status; do sleep 0.01; done; `

// A process that cannot be killed must neither hold the job nor occupy a processor.
func TestProcessOfRootDoesNotDelayEnd(t *testing.T) {
	setuid := os.Getenv(setuidVariable)
	if setuid == "" || os.Geteuid() == 0 {
		t.Skip("skipped: needs an ordinary user and a program that becomes root")
	}
	withoutCgroups(t)
	for name, test := range map[string]struct {
		script string
		kill   bool
		code   int
	}{
		"end of program": {becomeRoot + "exit 4", false, 4},
		"kill":           {becomeRoot + `echo ready; exec "$1" ` + attackMode + ` "become root"`, true, -1},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p, err := Start(Command{
				Program: program(t, "/bin/sh"), Args: []string{"-c", test.script, "sh", setuid}, Env: plainEnv, Policy: policy(None),
				Stdout: w, Result: new(bytes.Buffer),
			})
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			p.cmd.WaitDelay = 100 * time.Millisecond
			if test.kill {
				awaitLine(t, r, "ready")
				time.Sleep(200 * time.Millisecond) // until the program is another one
				if err := p.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			exit, err := waitWithin(t, p, 15*time.Second)
			if err == nil || !strings.Contains(err.Error(), "run as another user") || exit.Code != test.code {
				t.Errorf("exit %+v, %v", exit, err)
			}
			used := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if busy := time.Duration(used.Utime.Nano() + used.Stime.Nano()); busy > time.Second || used.Maxrss > 100<<10 {
				t.Errorf("the shim has used %s and %d KiB", busy, used.Maxrss)
			}
		})
	}
}

// A shim that is too slow has not ended.
func TestSlowShimIsNamed(t *testing.T) {
	for _, slow := range []bool{true, false} {
		ours, theirs := net.Pipe()
		defer ours.Close()
		if slow {
			_ = ours.SetDeadline(time.Now().Add(time.Millisecond))
		} else {
			theirs.Close()
		}
		err := notStarted(shim.ReadReport(ours))
		want := "the shim ended before"
		if slow {
			want = "has not started the program within 30s"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("slow %t: %v", slow, err)
		}
	}
}

func TestStartWithoutDescriptorsLeaksNone(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	truth := program(t, "/bin/true")
	needs(t, None)
	open := openFiles(t)
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &before) })
	failed := 0
	for free := range uint64(20) {
		low := before
		low.Cur = uint64(open) + free
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		p, err := Start(Command{
			Program: truth, Policy: policy(None), Stdin: bytes.NewReader(nil), Stdout: new(bytes.Buffer), Result: new(bytes.Buffer),
		})
		if err != nil {
			failed++
		} else if _, err := p.Wait(); err != nil {
			t.Error(err)
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
		within10s(t, "no more descriptors", func() bool { return openFiles(t) <= open })
	}
	if failed == 0 || failed == 20 {
		t.Errorf("%d of 20 starts failed", failed)
	}
}
