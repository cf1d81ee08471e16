//go:build unix

package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// envServer is the environment variable with which the test program runs as the server.
const envServer = "ROTA_CRASHTEST_SERVER"

// TestMain runs the tests, or the server if a test started this program with envServer.
// Tests run in parallel even on few processors, because they mostly wait.
func TestMain(m *testing.M) {
	if os.Getenv(envServer) != "" {
		main()
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := m.Run()
	pgtest.Close()
	os.Exit(code)
}

// waitMax is how long something may take on a very busy machine.
const waitMax = 60 * time.Second

// serverDir is the directory of a server across its incarnations: its data, the ledger,
// and its current address.
type serverDir struct {
	*testing.T
	dir  string
	data string
	env  []string

	mu      sync.Mutex
	addr    string        // address of the server; empty: it does not listen
	changed chan struct{} // closed when addr changes
}

// newServerDir creates a directory for a server with short leases and few workers;
// settings such as ROTA_LEASE=5s override that.
func newServerDir(t *testing.T, settings ...string) *serverDir {
	t.Helper()
	dir := t.TempDir()
	s := &serverDir{T: t, dir: dir, data: filepath.Join(dir, "data"), changed: make(chan struct{})}
	s.env = append([]string{
		envServer + "=1", envParent + "=1", envLedger + "=" + s.path("ledger"),
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "ROTA_DATA=" + s.data, "ROTA_HTTP=127.0.0.1:0", "ROTA_WORKERS=6",
		"ROTA_LEASE=1s", "ROTA_CANCEL_GRACE=200ms", "ROTA_SHUTDOWN_GRACE=500ms", "ROTA_PRUNE_EVERY=1s",
	}, settings...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the server log:\n%s", s.logTail())
		}
	})
	return s
}

func (s *serverDir) path(name string) string { return filepath.Join(s.dir, name) }

// database returns the file of the store.
func (s *serverDir) database() string { return filepath.Join(s.data, "rota.db") }

func (s *serverDir) logTail() string {
	text, _ := os.ReadFile(s.path("log"))
	if cut := 2_500; len(text) > cut {
		text = text[len(text)-cut:]
	}
	return string(text)
}

// address returns the address of the server, and a channel that is closed when the
// address changes.
func (s *serverDir) address() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr, s.changed
}

func (s *serverDir) setAddress(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addr = addr
	close(s.changed)
	s.changed = make(chan struct{})
}

// incarnation is one process of a server, from its start to its end.
type incarnation struct {
	serverDir *serverDir
	cmd       *exec.Cmd
	stdin     io.Closer     // standard input of the process, which ends it when it is closed
	ready     chan struct{} // closed when the server is ready
	ended     chan struct{} // closed when the process has ended
	endedAt   time.Time     // set before ended is closed
}

// start starts the server and does not wait until it is ready. Extra settings apply to
// this incarnation only.
func (s *serverDir) start(settings ...string) *incarnation {
	s.Helper()
	p := &incarnation{serverDir: s, cmd: exec.Command(os.Args[0]), ready: make(chan struct{}), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = append(append([]string{}, s.env...), settings...), s.dir
	log, err := os.OpenFile(s.path("log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	must(s, err)
	defer log.Close()
	p.cmd.Stderr = log
	p.stdin, err = p.cmd.StdinPipe()
	must(s, err)
	out, err := p.cmd.StdoutPipe()
	must(s, err)
	must(s, p.cmd.Start())
	s.Cleanup(p.kill)
	go p.watchOutput(out)
	return p
}

// watchOutput reads the address from the output of the process, and waits for its end.
func (p *incarnation) watchOutput(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if addr, found := strings.CutPrefix(lines.Text(), "ready "); found {
			p.serverDir.setAddress(addr)
			close(p.ready)
		}
	}
	_ = p.cmd.Wait()
	p.endedAt = time.Now()
	p.serverDir.setAddress("")
	close(p.ended)
}

// startUntilReady starts the server and waits until it is ready.
func (s *serverDir) startUntilReady(settings ...string) *incarnation {
	s.Helper()
	p := s.start(settings...)
	if !p.waitReady() {
		s.Fatalf("the server ended before it was ready: %v\n%s", p.cmd.ProcessState, s.logTail())
	}
	return p
}

// waitReady waits until the server is ready or has ended, and reports whether it is ready.
func (p *incarnation) waitReady() bool {
	p.serverDir.Helper()
	select {
	case <-p.ready:
		return true
	case <-p.ended:
		return false
	case <-time.After(waitMax):
		p.serverDir.Fatalf("the server is not ready\n%s", p.stacks())
		return false
	}
}

// signal sends a signal to the process, if it still runs.
func (p *incarnation) signal(s syscall.Signal) {
	select {
	case <-p.ended:
	default:
		_ = p.cmd.Process.Signal(s)
	}
}

// kill kills the process, if it has not ended yet.
func (p *incarnation) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
	_ = p.stdin.Close()
}

// endsWithin waits for the end of the process for at most d.
func (p *incarnation) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// stop stops the server with SIGTERM and expects a clean exit.
func (p *incarnation) stop() {
	p.serverDir.Helper()
	p.signal(syscall.SIGTERM)
	if !p.endsWithin(waitMax) {
		p.serverDir.Fatalf("the server does not stop\n%s", p.stacks())
	}
	if how := p.exitStatus(); how != "exit 0" {
		p.serverDir.Errorf("after the signal to stop, the server ended with %s", how)
	}
	_ = p.stdin.Close()
}

// stacks ends a process that hangs, and returns the stacks of its goroutines.
func (p *incarnation) stacks() string {
	p.signal(syscall.SIGQUIT)
	p.endsWithin(waitMax)
	log := p.serverDir.log()
	return log[max(0, strings.LastIndex(log, "SIGQUIT")):]
}

// endedBefore reports whether the process ended before a time.
func (p *incarnation) endedBefore(at time.Time) bool {
	return isClosed(p.ended) && p.endedAt.Before(at)
}

// exitStatus waits for the end of the process and returns "killed" or "exit N".
func (p *incarnation) exitStatus() string {
	<-p.ended
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == syscall.SIGKILL {
		return "killed"
	}
	if status.Exited() {
		return fmt.Sprint("exit ", status.ExitStatus())
	}
	return p.cmd.ProcessState.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
