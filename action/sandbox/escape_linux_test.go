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

	"golang.org/x/sys/unix"
)

// target is what attacks are aimed at.
type target struct {
	dir    string // can be read; has a file "open", and in "data" the file "secret"
	tcp    net.Listener
	socket net.Listener   // abstract
	path   net.Listener   // in the data directory
	packet net.PacketConn // in the data directory, for datagrams
	out    string         // can be written; has a directory "around" with the directory "data", which is hidden
	shared int            // segment of shared memory
	word   *uint64        // in the memory of the server
}

func newTarget(t *testing.T) *target {
	t.Helper()
	g := &target{dir: shortDir(t), word: new(uint64)}
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
	if g.path, err = net.Listen("unix", filepath.Join(g.dir, "data", "s")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.path.Close() })
	if g.packet, err = net.ListenPacket("unixgram", filepath.Join(g.dir, "data", "d")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.packet.Close() })
	g.out = t.TempDir()
	if err := os.MkdirAll(filepath.Join(g.out, "around", "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if g.shared, err = unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(g.shared, unix.IPC_RMID, nil) })
	return g
}

// shortDir is a directory whose name is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
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
	p.Write = []string{g.out}
	p.Hidden = []string{filepath.Join(g.dir, "data"), filepath.Join(g.out, "around", "data")}
	return p
}

// TestSeveralHiddenFiles hides two files and two directories, each kind with one cover.
func TestSeveralHiddenFiles(t *testing.T) {
	for _, isolation := range []Isolation{Full, Landlock} {
		t.Run(string(isolation), func(t *testing.T) {
			needs(t, isolation)
			dir := trustedDir(t)
			p := policy(isolation)
			p.Read = append(p.Read, dir)
			for _, name := range []string{"one", "two"} {
				write(t, filepath.Join(dir, name+".key"), "hidden "+name, 0o600)
				if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name, "file"), "hidden in "+name, 0o600)
				p.Hidden = append(p.Hidden, filepath.Join(dir, name+".key"), filepath.Join(dir, name))
			}
			write(t, filepath.Join(dir, "open"), "shown", 0o644)
			_, out := shell(t, p, "cd "+dir+"; cat open one.key two.key one/file two/file 2>/dev/null; true")
			if out != "shown" {
				t.Errorf("the program reads %q", out)
			}
		})
	}
}

// Every attack must work without isolation, or the test of its refusal could not fail.
func TestAttacksWorkOnlyWithoutIsolation(t *testing.T) {
	server := strconv.Itoa(os.Getpid())
	proc := "/proc/" + server
	for _, a := range []struct {
		name  string
		args  func(*target) []string
		root  bool // works for root only
		flags bool // needs a file system with flags of files
		peer  bool // needs the right to trace processes of the same user
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
		{name: "open the data directory to all", args: func(g *target) []string { return []string{"chmod", g.dir + "/data"} }},
		{name: "open a file that it can read to all", args: func(g *target) []string { return []string{"chmod", g.dir + "/open"} }},
		{name: "change the times of a file of the data directory", args: func(g *target) []string { return []string{"touch", g.dir + "/data/secret"} }},
		{name: "change the mode of a device", args: func(*target) []string { return []string{"chmod device", "/dev/full"} }, root: true},
		{name: "change the times of a device", args: func(*target) []string { return []string{"touch device", "/dev/full"} }, root: true},
		{name: "change the mode of the device that it reads", args: func(*target) []string { return []string{"chmod descriptor", "0"} }, root: true},
		{name: "move the directory around the data directory", args: func(g *target) []string { return []string{"rename", g.out + "/around", g.out + "/away"} }},
		{name: "move the data directory", args: func(g *target) []string { return []string{"rename", g.out + "/around/data", g.out + "/data"} }},
		{name: "create a program with the rights of its owner", args: func(g *target) []string { return []string{"setuid", g.out + "/new"} }},
		{name: "create a file with the rights of its owner", args: func(g *target) []string { return []string{"setuid at creation", g.out + "/new"} }},
		{name: "truncate a file of the data directory", args: func(g *target) []string { return []string{"truncate", g.dir + "/data/secret"} }},
		{name: "truncate a file that it can read", args: func(g *target) []string { return []string{"truncate", g.dir + "/open"} }},
		{name: "open a file of the data directory for ioctl", args: func(g *target) []string { return []string{"open for ioctl", g.dir + "/data/secret"} }},
		{name: "set flags of a file that it can read", args: func(g *target) []string { return []string{"set flags", g.dir + "/open"} }, flags: true},
		{name: "set extended flags of a file that it can read", args: func(g *target) []string { return []string{"set extended flags", g.dir + "/open"} }, flags: true},
		{name: "watch the data directory", args: func(g *target) []string { return []string{"watch", g.dir + "/data"} }},
		{name: "limit the server", args: func(*target) []string { return []string{"prlimit", server} }},
		{name: "slow the server down", args: func(*target) []string { return []string{"nice", server} }},
		{name: "pin the server to processors", args: func(*target) []string { return []string{"pin", server} }},
		{name: "attach shared memory of the server", args: func(g *target) []string { return []string{"shared memory", strconv.Itoa(g.shared)} }},
		{name: "connect to a socket of the server", args: func(g *target) []string { return []string{"connect", "unix", g.path.Addr().String()} }},
		{name: "send to a socket of the server through a pair", args: func(g *target) []string {
			return []string{"datagram", strconv.Itoa(unix.SOCK_DGRAM), g.packet.LocalAddr().String()}
		}},
		{name: "send to a socket of the server through a raw pair", args: func(g *target) []string {
			return []string{"datagram", strconv.Itoa(unix.SOCK_RAW | unix.SOCK_CLOEXEC), g.packet.LocalAddr().String()}
		}},
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
				case a.flags && !hasFlags(g.dir+"/open"):
					t.Skip("skipped: the file system has no flags of files")
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

func hasFlags(path string) bool {
	_, err := withFlags(path, 0)
	return err == nil
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
		p.Write = append(p.Write, out)
		write(t, out+"/full", "x", 0o600)
		all := [][]string{
			{"read", g.dir + "/open"},
			{"write", out + "/file"},
			{"read", "/proc/self/status"},
			{"open", "/dev/null"},
			{"connect", "tcp", g.tcp.Addr().String()},
			{"truncate", out + "/full"},
			{"open and truncate", out + "/full", strconv.Itoa(unix.O_WRONLY)},
		}
		if hasFlags(g.dir + "/open") {
			all = append(all, []string{"get flags", g.dir + "/open"})
		}
		for _, args := range all {
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

// The device that discards output is that of the machine, too.
func TestModeOfDiscardedOutputCannotBeChanged(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		if isolation == None && os.Geteuid() != 0 {
			t.Skip("skipped: works for root only")
		}
		for _, fd := range []string{"1", "2"} {
			p, err := Start(Command{Program: self(t), Args: []string{attackMode, "chmod descriptor", fd}, Env: plainEnv, Policy: policy(isolation)})
			if err != nil {
				t.Fatal(err)
			}
			exit, err := p.Wait()
			if want := isolation == None; err != nil || (exit.Code == attackWorked) != want || (exit.Code == attackRefused) == want {
				t.Errorf("descriptor %s: %+v, %v", fd, exit, err)
			}
		}
	})
}

func TestDevicesCanBeUsed(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		const script = `cat; echo x > /dev/null && echo x >> /dev/null && cat /dev/null && head -c 3 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c && ` +
			`head -c 5 /dev/random | wc -c && ! echo x 2>/dev/null > /dev/full && echo x > /dev/stdout`
		exit, out := shell(t, policy(isolation), script)
		if exit.Code != 0 || out != "3\n4\n5\nx\n" {
			t.Errorf("exit %+v: %q", exit, out)
		}
	})
}

// A job cannot name such a program, but a program that it names can start it. Decision 0019 says so.
func TestProgramExecutesWhatItHasWritten(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		p := policy(isolation)
		p.Write = []string{t.TempDir()}
		if exit, out := shell(t, p, "cd "+p.Write[0]+" && cp /bin/echo written && ./written x"); exit.Code != 0 || out != "x\n" {
			t.Errorf("exit %+v: %q", exit, out)
		}
	})
}

// Landlock knows truncation since Linux 6.2.
func TestOldLandlockTruncatesNothing(t *testing.T) {
	needs(t, Landlock)
	before := landlockVersion
	landlockVersion = func() int { return min(before(), landlockTruncate-1) }
	t.Cleanup(func() { landlockVersion = before })
	for _, isolation := range []Isolation{Landlock, None} {
		t.Run(string(isolation), func(t *testing.T) {
			for name, args := range map[string]func(*target) []string{
				"by path": func(g *target) []string { return []string{"truncate", g.dir + "/data/secret"} },
				"what it can read": func(g *target) []string {
					return []string{"open and truncate", g.dir + "/open", strconv.Itoa(unix.O_RDONLY)}
				},
				"for ioctl": func(g *target) []string {
					return []string{"open and truncate", g.dir + "/data/secret", strconv.Itoa(neitherReadNorWrite)}
				},
			} {
				g := newTarget(t)
				_, out := attacked(t, g.policy(isolation), args(g)...)
				open, _ := os.ReadFile(g.dir + "/open")
				secret, _ := os.ReadFile(g.dir + "/data/secret")
				if worked := len(open) == 0 || len(secret) == 0; worked != (isolation == None) {
					t.Errorf("%s: the files have %q and %q: %s", name, open, secret, out)
				}
			}
		})
	}
}

// Programs that watch files read them again and again where they cannot.
func TestTailFollowsFile(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		dir := t.TempDir()
		write(t, dir+"/log", "one\n", 0o644)
		p := policy(isolation)
		p.Write, p.Dir = []string{dir}, dir
		const script = `touch seen; tail -f -s 0.05 log > seen 2>/dev/null & for i in $(seq 500); do grep -q two seen && exit 5; ` +
			`grep -q one seen && echo two >> log; sleep 0.01; done`
		if exit, out := shell(t, p, script); exit.Code != 5 {
			t.Errorf("exit %+v: %q", exit, out)
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

// Many programs use pairs of sockets instead of pipes.
func TestPairsOfConnectedSocketsAreAllowed(t *testing.T) {
	eachIsolation(t, func(t *testing.T, isolation Isolation) {
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK} {
			if exit, out := attacked(t, policy(isolation), "pair", strconv.Itoa(kind)); exit.Code != attackWorked {
				t.Errorf("type %#x: %+v: %s", kind, exit, out)
			}
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
