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

// WaitMax is the longest that something may take on a very busy machine.
const WaitMax = 60 * time.Second

// Process is a program that a test has started, and that ends with it.
type Process struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.Closer     // its standard input
	done  chan struct{} // closed when it has ended

	mu     sync.Mutex
	output bytes.Buffer // standard output and standard error
	lines  chan string  // of its standard output
}

// StartProgram starts one of the programs given to Main.
func StartProgram(t testing.TB, name string, env ...string) *Process {
	t.Helper()
	return Start(t, exec.Command(os.Args[0]), append(env, envProgram+"="+name)...)
}

// Start starts a command. Its environment is env, PATH and HOME.
func Start(t testing.TB, cmd *exec.Cmd, env ...string) *Process {
	t.Helper()
	p := &Process{t: t, cmd: cmd, done: make(chan struct{}), lines: make(chan string, 1_000)}
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}, env...)
	cmd.Stderr = p
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
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
			t.Logf("last output of %s:\n%s", cmd.Path, tail(p.Output()))
		}
	})
	return p
}

// tail returns the end of a text.
func tail(text string) string {
	const most = 4_000
	return text[max(0, len(text)-most):]
}

// follow reads the output of a process until it ends.
func (p *Process) follow(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		_, _ = p.Write(append(lines.Bytes(), '\n'))
		select {
		case p.lines <- lines.Text():
		default: // no reader for a long time
		}
	}
	_ = p.cmd.Wait()
	close(p.done)
}

// Write records output of the process.
func (p *Process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(text)
}

// Output returns all that the process has printed, standard error included.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// AwaitLine waits for a line of standard output with a prefix, and returns the rest of it.
func (p *Process) AwaitLine(begins string) string {
	p.t.Helper()
	late := time.NewTimer(WaitMax)
	defer late.Stop()
	for {
		select {
		case line := <-p.lines:
			if rest, found := strings.CutPrefix(line, begins); found {
				return strings.TrimSpace(rest)
			}
		case <-p.done:
			p.t.Fatalf("it ended before it printed %q: %v\n%s", begins, p.cmd.ProcessState, tail(p.Output()))
		case <-late.C:
			p.t.Fatalf("it does not print %q:\n%s", begins, tail(p.Output()))
		}
	}
}

// Signal sends a signal to the process, if it has not ended.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill ends the process with SIGKILL, if it has not ended.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
	_ = p.stdin.Close()
}

// Stop sends SIGTERM to the process, and waits until it has ended with exit code 0.
func (p *Process) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(WaitMax):
		p.t.Fatalf("it does not stop:\n%s", tail(p.Output()))
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("stopped, it ended with %s:\n%s", p.cmd.ProcessState, tail(p.Output()))
	}
	_ = p.stdin.Close()
}
