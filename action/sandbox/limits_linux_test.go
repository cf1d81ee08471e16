//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// attacked executes an attack on a limit.
func attacked(t *testing.T, p Policy, args ...string) (Exit, string) {
	t.Helper()
	return execute(t, Command{Program: self(t), Args: append([]string{attackMode}, args...), Env: plainEnv, Policy: p})
}

// Each bomb works without its limit, or the test could not fail.
func TestBombsStopAtTheirLimits(t *testing.T) {
	for _, bomb := range []struct {
		name  string
		args  func(dir string) []string
		limit func(*Policy)
		skip  func(Isolation) string
	}{
		{
			name:  "memory",
			args:  func(string) []string { return []string{"memory", fmt.Sprint(400 << 20)} },
			limit: func(p *Policy) { p.Memory = 128 << 20 },
		},
		{
			name:  "processes",
			args:  func(string) []string { return []string{"processes", "450"} },
			limit: func(p *Policy) { p.Processes = 20 },
			skip: func(isolation Isolation) string {
				if os.Geteuid() == 0 && !findTree().has("pids") && (isolation != Full || !hasOwnPIDMax()) {
					return "skipped: no controller of processes, and the kernel does not limit those of root"
				}
				return ""
			},
		},
		{
			name:  "file",
			args:  func(dir string) []string { return []string{"fill", dir + "/file", "32"} },
			limit: func(p *Policy) { p.FileMax = 4 << 20 },
		},
	} {
		t.Run(bomb.name, func(t *testing.T) {
			eachIsolation(t, func(t *testing.T, isolation Isolation) {
				dir := t.TempDir()
				p := policy(isolation)
				p.Write = []string{dir}
				if exit, out := attacked(t, p, bomb.args(dir)...); exit.Code != attackWorked {
					t.Fatalf("without a limit it ended with %+v: %.300s", exit, out)
				}
				bomb.limit(&p)
				if bomb.skip != nil && bomb.skip(isolation) != "" {
					t.Skip(bomb.skip(isolation))
				}
				if exit, out := attacked(t, p, bomb.args(dir)...); exit.Code == attackWorked {
					t.Errorf("with a limit it ended with %+v: %.300s", exit, out)
				}
			})
		})
	}
}

// A fork bomb is killed faster than it grows.
func TestForkBombEndsWithKill(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		mark := mark()
		pol := policy(isolation)
		pol.Processes = 200
		p, err := Start(Command{
			Program: program(t, "/bin/sh"), Env: plainEnv, Policy: pol,
			Args: []string{"-c", `n=0; bomb() { while [ $n -lt 60 ]; do n=$((n+1)); setsid sh -c 'while :; do sleep 0.05; setsid sleep 600 ` + mark + ` & done' & done; }; bomb; wait`},
		})
		if err != nil {
			t.Fatal(err)
		}
		within10s(t, "the bomb grows", func() bool { return len(withArgument(mark)) > 20 })
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		if left := withArgument(mark); len(left) > 0 {
			t.Errorf("%d processes have survived", len(left))
		}
	})
}

func TestPrivateTempIsBounded(t *testing.T) {
	if _, err := Probe(Full); err != nil {
		t.Skip("skipped:", err)
	}
	p := policy(Full)
	if exit, out := attacked(t, p, "fill", "/tmp/file", "16"); exit.Code != attackWorked {
		t.Errorf("in /tmp: %+v: %s", exit, out)
	}
	if exit, out := attacked(t, p, "fill", "/dev/shm/file", "16"); exit.Code != attackWorked {
		t.Errorf("in /dev/shm: %+v: %s", exit, out)
	}
	p.TempMax = 8 << 20
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if exit, out := attacked(t, p, "fill", dir+"/file", "16"); exit.Code != attackRefused || !strings.Contains(out, "no space") {
			t.Errorf("in %s: %+v: %s", dir, exit, out)
		}
	}
	for _, path := range []string{"/file", "/etc/file", "/dev/file", "/proc/file", "/.none/file"} {
		if exit, out := attacked(t, p, "write", path); exit.Code != attackRefused {
			t.Errorf("%s can be written: %+v: %s", path, exit, out)
		}
	}
}

func TestLimitThatEndsProgramIsNamed(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		dir := t.TempDir()
		p := policy(isolation)
		p.Write, p.FileMax = []string{dir}, 1<<20
		exit, out := execute(t, Command{Program: program(t, "/bin/dd"), Args: []string{"if=/dev/zero", "of=" + dir + "/x", "bs=1M", "count=5"}, Policy: p})
		if exit.Limit != "file size" {
			t.Errorf("exit %+v: %s", exit, out)
		}
		if findTree().has("cpu") {
			return // the controller slows it down, and the caller ends it
		}
		p.CPU = 1
		exit, _ = execute(t, Command{
			Program: program(t, "/bin/sh"), Args: []string{"-c", "while :; do :; done"}, Policy: p, Timeout: time.Second,
		})
		if exit.Limit != "cpu" {
			t.Errorf("exit %+v", exit)
		}
	})
}

func TestProbeNamesLimitsWithoutController(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		warnings, err := Probe(isolation)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"memory", "cpu"} {
			named := strings.Contains(strings.Join(warnings, "\n"), name+": no cgroup controller")
			if named == findTree().has(name) {
				t.Errorf("%s: warnings %q", name, warnings)
			}
		}
	})
	if _, err := Probe("loud"); err == nil || !strings.Contains(err.Error(), `"loud"; use full, landlock or none`) {
		t.Errorf("got %v", err)
	}
}

// Every isolation needs some system calls, none too.
func TestProbeFindsMissingSystemCalls(t *testing.T) {
	for number, want := range map[uintptr]string{unix.SYS_CLOSE_RANGE: "since Linux 5.11", unix.SYS_PIDFD_OPEN: "since Linux 5.3", unix.SYS_ACCT: ""} {
		out, _ := execCommand("/proc/self/exe", attackMode, "probe without", fmt.Sprint(number)).CombinedOutput()
		if !strings.Contains(string(out), want) || want == "" && len(out) > 0 {
			t.Errorf("without call %d: %q, want %q", number, out, want)
		}
	}
}

func TestProbeNamesWhatOldLandlockDoesNotSeparate(t *testing.T) {
	before := landlockVersion
	landlockVersion = func() int { return min(before(), landlockScopes-1) }
	t.Cleanup(func() { landlockVersion = before })
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		for _, network := range []bool{false, true} {
			warnings, err := ProbePolicy(Policy{Isolation: isolation, Network: network})
			if err != nil {
				t.Fatal(err)
			}
			named := strings.Contains(strings.Join(warnings, "\n"), "abstract sockets")
			if want := network && isolation != None; named != want {
				t.Errorf("network %t: warnings %q", network, warnings)
			}
		}
	})
}

// A server probes all isolations of its configuration.
func TestProbeLeavesNothing(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		files := openFiles(t)
		for range 20 {
			if _, err := Probe(isolation); err != nil {
				t.Fatal(err)
			}
		}
		within10s(t, "no more descriptors and zombies", func() bool { return openFiles(t) <= files && zombies(t) == 0 })
	})
}

// TestControllersEnforceLimits needs a cgroup that the service manager delegates.
func TestControllersEnforceLimits(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		for _, c := range []struct {
			controller string
			limit      func(*Policy)
			args       []string
			reached    func(Exit) bool
		}{
			{"memory", func(p *Policy) { p.Memory = 64 << 20 }, []string{"memory", fmt.Sprint(400 << 20)}, func(e Exit) bool { return e.Limit == "memory" }},
			{"pids", func(p *Policy) { p.Processes = 20 }, []string{"processes", "100"}, func(e Exit) bool { return e.Code == attackRefused }},
			{"cpu", func(p *Policy) { p.CPU = 0.1 }, []string{"burn", "2"}, func(e Exit) bool { return e.CPU < time.Second }},
		} {
			t.Run(c.controller, func(t *testing.T) {
				if !findTree().has(c.controller) {
					t.Skipf("skipped: no cgroup controller %s is delegated to this process", c.controller)
				}
				p := policy(isolation)
				if exit, out := attacked(t, p, c.args...); c.reached(exit) {
					t.Fatalf("without a limit: %+v: %.300s", exit, out)
				}
				c.limit(&p)
				if exit, out := attacked(t, p, c.args...); !c.reached(exit) {
					t.Errorf("with a limit: %+v: %.300s", exit, out)
				}
			})
		}
	})
}
