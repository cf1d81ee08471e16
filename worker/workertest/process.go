//go:build unix

package workertest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long something may take on a very busy machine.
const Patience = 60 * time.Second

// Process is a program that was started by a test, and ends with it.
type Process struct {
	t    testing.TB
	cmd  *exec.Cmd
	hold io.Closer     // its standard input
	over chan struct{} // closed when it has ended

	mu    sync.Mutex
	said  bytes.Buffer // what it printed, errors included
	lines chan string  // of its standard output
}

// Program starts one of the programs that Main was given.
func Program(t testing.TB, name string, env ...string) *Process {
	t.Helper()
	return Start(t, exec.Command(os.Args[0]), append(env, envProgram+"="+name)...)
}

// Start starts a command. Its environment is what it is given, and where programs
// are found.
func Start(t testing.TB, cmd *exec.Cmd, env ...string) *Process {
	t.Helper()
	p := &Process{t: t, cmd: cmd, over: make(chan struct{}), lines: make(chan string, 1_000)}
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}, env...)
	cmd.Stderr = p
	var err error
	if p.hold, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.follow(out)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%s said at last:\n%s", cmd.Path, tail(p.Said()))
		}
	})
	return p
}

// tail is the end of a text.
func tail(text string) string {
	const most = 4_000
	return text[max(0, len(text)-most):]
}

// follow hears what a process prints, and of its end.
func (p *Process) follow(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		_, _ = p.Write(append(lines.Bytes(), '\n'))
		select {
		case p.lines <- lines.Text():
		default: // nobody has listened for long
		}
	}
	_ = p.cmd.Wait()
	close(p.over)
}

// Write keeps what a process prints.
func (p *Process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(text)
}

// Said is all that it has printed, errors included.
func (p *Process) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// Line waits for a line of its standard output that begins so, and is the rest
// of it.
func (p *Process) Line(begins string) string {
	p.t.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	for {
		select {
		case line := <-p.lines:
			if rest, found := strings.CutPrefix(line, begins); found {
				return strings.TrimSpace(rest)
			}
		case <-p.over:
			p.t.Fatalf("it ended before it said %q: %v\n%s", begins, p.cmd.ProcessState, tail(p.Said()))
		case <-late.C:
			p.t.Fatalf("it does not say %q:\n%s", begins, tail(p.Said()))
		}
	}
}

// Signal sends a signal to the process, if it still lives.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.over:
	default:
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill ends the process with SIGKILL, if it has not ended yet.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.over
	_ = p.hold.Close()
}

// Stop asks the process to end, and waits until it has, without a complaint.
func (p *Process) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.over:
	case <-time.After(Patience):
		p.t.Fatalf("it does not stop:\n%s", tail(p.Said()))
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("told to stop, it ended with %s:\n%s", p.cmd.ProcessState, tail(p.Said()))
	}
	_ = p.hold.Close()
}
