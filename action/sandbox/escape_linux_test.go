//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// target is what attacks are aimed at.
type target struct {
	dir    string // can be read; has a file "open", and in "data" the file "secret"
	tcp    net.Listener
	socket net.Listener // abstract
	word   *uint64      // in the memory of the server
}

func newTarget(t *testing.T) *target {
	t.Helper()
	g := &target{dir: t.TempDir(), word: new(uint64)}
	write(t, filepath.Join(g.dir, "open"), "x", 0o644)
	if err := os.MkdirAll(filepath.Join(g.dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(g.dir, "data", "secret"), "x", 0o644)
	var err error
	if g.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.tcp.Close() })
	if g.socket, err = net.Listen("unix", fmt.Sprintf("@rota-sandbox-%d-%s", os.Getpid(), filepath.Base(g.dir))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.socket.Close() })
	return g
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func (g *target) policy(isolation Isolation) Policy {
	p := policy(isolation)
	p.Read = append(p.Read, g.dir)
	p.Hidden = []string{filepath.Join(g.dir, "data")}
	return p
}

// Every attack must work without isolation, or the test of its refusal could not fail.
func TestAttacksWorkOnlyWithoutIsolation(t *testing.T) {
	server := strconv.Itoa(os.Getpid())
	proc := "/proc/" + server
	for _, a := range []struct {
		name string
		args func(*target) []string
		root bool // works for root only
		peer bool // needs the right to trace processes of the same user
	}{
		{name: "read a file of the data directory", args: func(g *target) []string { return []string{"read", g.dir + "/data/secret"} }},
		{name: "list the data directory", args: func(g *target) []string { return []string{"list", g.dir + "/data"} }},
		{name: "write into the data directory", args: func(g *target) []string { return []string{"write", g.dir + "/data/new"} }},
		{name: "reach the data directory through proc", args: func(g *target) []string {
			return []string{"read", proc + "/root" + g.dir + "/data/secret"}
		}},
		{name: "write where it can read", args: func(g *target) []string { return []string{"write", g.dir + "/new"} }},
		{name: "change what it can read", args: func(g *target) []string { return []string{"write", g.dir + "/open"} }},
		{name: "read the environment of the server", args: func(*target) []string { return []string{"read", proc + "/environ"} }, peer: true},
		{name: "open the memory of the server", args: func(*target) []string { return []string{"open", proc + "/mem"} }, peer: true},
		{name: "copy the memory of the server", args: func(g *target) []string {
			return []string{"peek", server, fmt.Sprintf("%d", addressOf(g.word))}
		}, peer: true},
		{name: "follow a descriptor of the server", args: func(*target) []string { return []string{"follow", proc + "/fd/2"} }, peer: true},
		{name: "trace the server", args: func(*target) []string { return []string{"ptrace", server} }, peer: true},
		{name: "signal the server", args: func(*target) []string { return []string{"signal", server} }},
		{name: "connect to loopback", args: func(g *target) []string { return []string{"connect", "tcp", g.tcp.Addr().String()} }},
		{name: "connect to an abstract socket", args: func(g *target) []string { return []string{"connect", "unix", g.socket.Addr().String()} }},
		{name: "create namespaces and mount", args: func(*target) []string { return []string{"namespaces"} }},
		{name: "unshare", args: func(*target) []string { return []string{"unshare"} }, root: true},
		{name: "mount", args: func(*target) []string { return []string{"mount"} }, root: true},
		{name: "change a setting of the kernel", args: func(*target) []string { return []string{"open", "/proc/sys/kernel/panic"} }, root: true},
		{name: "list devices", args: func(*target) []string { return []string{"list", "/sys"} }},
		{name: "set up io_uring", args: func(*target) []string { return []string{"io_uring"} }},
	} {
		t.Run(a.name, func(t *testing.T) {
			eachIsolation(t, func(t *testing.T, isolation Isolation) {
				g := newTarget(t)
				args := append([]string{attackMode}, a.args(g)...)
				exit, out := execute(t, Command{Program: self(t), Args: args, Env: plainEnv, Policy: g.policy(isolation)})
				switch {
				case isolation != None && exit.Code != attackRefused:
					t.Errorf("the attack ended with %+v: %s", exit, out)
				case isolation != None:
				case a.root && os.Geteuid() != 0:
					t.Skip("skipped: works for root only")
				case a.peer && tracingRestricted():
					t.Skip("skipped: kernel.yama.ptrace_scope is set")
				case exit.Code != attackWorked && os.Geteuid() != 0 && strings.Contains(a.name, "namespaces") && unprivileged(t) != nil:
					t.Skip("skipped: the system refuses namespaces of users")
				case exit.Code != attackWorked && strings.Contains(a.name, "io_uring") && !kernelHasRings():
					t.Skip("skipped: the kernel has no io_uring")
				case exit.Code != attackWorked:
					t.Errorf("the attack does not work without isolation: %+v: %s", exit, out)
				}
			})
		})
	}
}

func unprivileged(*testing.T) error { _, err := Probe(Full); return err }

func tracingRestricted() bool {
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err == nil && strings.TrimSpace(string(scope)) != "0" && os.Geteuid() != 0
}

func kernelHasRings() bool {
	off, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled")
	return err == nil && strings.TrimSpace(string(off)) == "0"
}

// What the policy allows works, so that the refusals above are not refusals of everything.
func TestProgramReachesWhatPolicyAllows(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		g := newTarget(t)
		p := g.policy(isolation)
		p.Network = true
		out := t.TempDir()
		p.Write = []string{out}
		for _, args := range [][]string{
			{"read", g.dir + "/open"},
			{"write", out + "/file"},
			{"read", "/proc/self/status"},
			{"open", "/dev/null"},
			{"connect", "tcp", g.tcp.Addr().String()},
		} {
			exit, text := execute(t, Command{Program: self(t), Args: append([]string{attackMode}, args...), Env: plainEnv, Policy: p})
			if exit.Code != attackWorked {
				t.Errorf("%s: %+v: %s", args, exit, text)
			}
		}
		if text, err := os.ReadFile(out + "/file"); string(text) != "x" {
			t.Errorf("the file has %q, %v", text, err)
		}
	})
}

func TestAbstractSocketsAreRefusedWithNetwork(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		if landlockVersion() < landlockScopes {
			t.Skip("skipped: Landlock before version 6 has no scopes")
		}
		g := newTarget(t)
		p := g.policy(isolation)
		p.Network = true
		exit, out := execute(t, Command{Program: self(t), Args: []string{attackMode, "connect", "unix", g.socket.Addr().String()}, Env: plainEnv, Policy: p})
		if worked := exit.Code == attackWorked; worked != (isolation == None) {
			t.Errorf("got %+v: %s", exit, out)
		}
	})
}

func TestFilterRefusesSystemCalls(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		exit, out := execute(t, Command{Program: self(t), Args: []string{attackMode, "errno", ""}, Env: plainEnv, Policy: policy(isolation)})
		if exit.Code != 0 {
			t.Fatalf("got %+v: %s", exit, out)
		}
		for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
			var name string
			var errno syscall.Errno
			fmt.Sscan(line, &name, &errno)
			if same := errno == harmless[i].want; name != harmless[i].name || same != (isolation != None) {
				t.Errorf("%s: errno %d (%v)", line, errno, errno)
			}
		}
	})
}

func TestProgramHasNoPrivilegesAndNoDescriptors(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		_, out := shell(t, policy(isolation), "grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status; ls /proc/self/fd")
		if isolation == None {
			if strings.Contains(out, "Seccomp:\t2") {
				t.Error("there is a filter without isolation")
			}
			return
		}
		for _, want := range []string{"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing in %s", want, out)
			}
		}
		if os.Geteuid() == 0 && !strings.Contains(out, "CapBnd:\t0000000000000000") {
			t.Errorf("root keeps a bounding set: %s", out)
		}
		_, out = execute(t, Command{Program: program(t, "/bin/ls"), Args: []string{"/proc/self/fd"}, Policy: policy(isolation)})
		want := "0\n1\n2\n3\n" // 3 is the directory
		if isolation == Landlock {
			want = "0\n1\n10\n2\n3\n"
		}
		if out != want {
			t.Errorf("the program has the descriptors %q", out)
		}
	})
}

func addressOf(word *uint64) uintptr { return uintptr(unsafe.Pointer(word)) }
