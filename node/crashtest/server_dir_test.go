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

// envServer makes this program the server instead of the tests.
const envServer = "ROTA_CRASHTEST_SERVER"

// TestMain lets the tests start this very program as another process. They run
// beside each other, however few processors there are: mostly they wait.
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
	addr    string        // empty: it does not listen
	changed chan struct{} // closed when that changes
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
			t.Logf("the end of the server's log:\n%s", s.logTail())
		}
	})
	return s
}

func (s *serverDir) path(name string) string { return filepath.Join(s.dir, name) }

// database is the file of the store.
func (s *serverDir) database() string { return filepath.Join(s.data, "rota.db") }

func (s *serverDir) logTail() string {
	text, _ := os.ReadFile(s.path("log"))
	if cut := 2_500; len(text) > cut {
		text = text[len(text)-cut:]
	}
	return string(text)
}

// where is the address of the server, and a channel that is closed when that
// changes.
func (s *serverDir) where() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr, s.changed
}

func (s *serverDir) moved(addr string) {
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
	hold      io.Closer     // its standard input
	ready     chan struct{} // closed when it is
	over      chan struct{} // closed when it has ended
	ended     time.Time     // after that
}

// start starts the server and does not wait until it is ready. Extra settings apply to
// this incarnation only.
func (s *serverDir) start(settings ...string) *incarnation {
	s.Helper()
	l := &incarnation{serverDir: s, cmd: exec.Command(os.Args[0]), ready: make(chan struct{}), over: make(chan struct{})}
	l.cmd.Env, l.cmd.Dir = append(append([]string{}, s.env...), settings...), s.dir
	log, err := os.OpenFile(s.path("log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	must(s, err)
	defer log.Close()
	l.cmd.Stderr = log
	l.hold, err = l.cmd.StdinPipe()
	must(s, err)
	out, err := l.cmd.StdoutPipe()
	must(s, err)
	must(s, l.cmd.Start())
	s.Cleanup(l.kill)
	go l.follow(out)
	return l
}

// follow reads the address from the output of the server, and waits for its end.
func (l *incarnation) follow(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if addr, found := strings.CutPrefix(lines.Text(), "ready "); found {
			l.serverDir.moved(addr)
			close(l.ready)
		}
	}
	_ = l.cmd.Wait()
	l.ended = time.Now()
	l.serverDir.moved("")
	close(l.over)
}

// run starts the server and waits until it is ready.
func (s *serverDir) run(settings ...string) *incarnation {
	s.Helper()
	l := s.start(settings...)
	if !l.becomesReady() {
		s.Fatalf("the server ended before it was ready: %v\n%s", l.cmd.ProcessState, s.logTail())
	}
	return l
}

// becomesReady waits until the server is ready, or has ended before.
func (l *incarnation) becomesReady() bool {
	l.serverDir.Helper()
	select {
	case <-l.ready:
		return true
	case <-l.over:
		return false
	case <-time.After(waitMax):
		l.serverDir.Fatalf("the server is not ready\n%s", l.serverDir.logTail())
		return false
	}
}

// signal sends a signal to the process, if it still runs.
func (l *incarnation) signal(s syscall.Signal) {
	select {
	case <-l.over:
	default:
		_ = l.cmd.Process.Signal(s)
	}
}

// kill kills the process, if it has not ended yet.
func (l *incarnation) kill() {
	l.signal(syscall.SIGKILL)
	<-l.over
	_ = l.hold.Close()
}

// diesWithin waits for the end of the process, for so long.
func (l *incarnation) diesWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.over:
		return true
	case <-timer.C:
		return false
	}
}

// stop stops the server with SIGTERM and expects a clean exit.
func (l *incarnation) stop() {
	l.serverDir.Helper()
	l.signal(syscall.SIGTERM)
	if !l.diesWithin(waitMax) {
		l.serverDir.Fatalf("the server does not stop\n%s", l.serverDir.logTail())
	}
	if how := l.howItEnded(); how != "exit 0" {
		l.serverDir.Errorf("after the signal to stop, the server ended with %s", how)
	}
	_ = l.hold.Close()
}

// endedBefore reports whether the process had ended at some time.
func (l *incarnation) endedBefore(at time.Time) bool { return isClosed(l.over) && l.ended.Before(at) }

// howItEnded is "killed" or "exit N".
func (l *incarnation) howItEnded() string {
	<-l.over
	status := l.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == syscall.SIGKILL {
		return "killed"
	}
	if status.Exited() {
		return fmt.Sprint("exit ", status.ExitStatus())
	}
	return l.cmd.ProcessState.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
