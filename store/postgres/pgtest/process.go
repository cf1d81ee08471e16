package pgtest

import (
	"context"
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

// process is a child process that ends with this one.
type process struct {
	pid    int
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has ended
	err    error         // its exit error, valid after exited
}

// startProcess starts a program in a directory and writes its output to a log file.
func startProcess(dir, log, program string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8"} // without PGDATA, PGPORT and similar variables
	if err := setProcAttr(cmd); err != nil {
		return nil, err
	}
	c := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// run keeps an OS thread for the child, because Pdeathsig takes the end of the starting thread for
// the end of the parent.
func (c *process) run(started chan<- error) {
	runtime.LockOSThread()
	if err := c.cmd.Start(); err != nil {
		started <- err
		return
	}
	c.pid = c.cmd.Process.Pid
	started <- nil
	c.err = c.cmd.Wait()
	close(c.exited)
}

// signal sends a signal if the process runs.
func (c *process) signal(s os.Signal) {
	select {
	case <-c.exited:
	default:
		_ = c.cmd.Process.Signal(s)
	}
}

// waitReady calls ping until it succeeds or the process has ended.
func (c *process) waitReady(ping func(context.Context) error) error {
	ctx, done := context.WithTimeout(context.Background(), timeout)
	defer done()
	for {
		err := ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-c.exited:
			return fmt.Errorf("the process has ended: %w", errors.Join(c.err, err))
		case <-ctx.Done():
			return fmt.Errorf("the process does not answer: %w", err)
		}
	}
}

// freePort returns a free port below the ephemeral range, so that no outgoing connection takes it
// before a server starts again.
func freePort() (int, error) {
	for range 100 {
		port := 15_000 + rand.IntN(15_000)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("found no free port on 127.0.0.1")
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
