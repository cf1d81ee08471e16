package dyntest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"
)

// timeout is how long a server may take to start on a busy machine.
const timeout = 60 * time.Second

// process is a child process that ends with this one.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has ended
	err    error         // its exit error, valid after exited
}

// startProcess starts a program and writes its output to a log file.
func startProcess(log string, command []string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = os.TempDir(), out, out
	endWithParent(cmd)
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	return p, <-started
}

// run keeps an OS thread for the child, because Pdeathsig takes the end of the starting thread for the end of the parent.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	p.err = p.cmd.Wait()
	close(p.exited)
}

// signal sends a signal to the process, which fails if it has ended.
func (p *process) signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// kill ends the process and waits until it has ended.
func (p *process) kill() {
	_ = p.signal(os.Kill) // it may have ended
	<-p.exited
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// waitReady calls ping until it succeeds or the process has ended.
func (p *process) waitReady(ping func() error) error {
	for deadline := time.Now().Add(timeout); ; {
		err := ping()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-p.exited:
			return fmt.Errorf("the process has ended: %w", errors.Join(p.err, err))
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the process does not answer: %w", err)
		}
	}
}

// freePort returns a free port below the ephemeral range, so that no outgoing connection takes it before a server starts again.
func freePort() (int, error) {
	for range 100 {
		port := 15_000 + rand.IntN(15_000)
		listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("found no free port on " + host)
}

// tail returns the end of a file.
func tail(file string) string {
	const most = 4_000
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
