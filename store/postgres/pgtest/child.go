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

// child is a process that ends with this one.
type child struct {
	pid  int
	cmd  *exec.Cmd
	over chan struct{} // closed when it has ended
	err  error         // how, after that
}

// startChild starts a program in a directory. What it says goes to a file.
func startChild(dir, log, program string, args ...string) (*child, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8"} // and no PGDATA, PGPORT and so on
	if err := dress(cmd); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, over: make(chan struct{})}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// run keeps a thread for the child: the kernel takes the end of the thread that
// started it for the end of its parent.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	if err := c.cmd.Start(); err != nil {
		started <- err
		return
	}
	c.pid = c.cmd.Process.Pid
	started <- nil
	c.err = c.cmd.Wait()
	close(c.over)
}

// signal sends a signal, if the child still lives.
func (c *child) signal(s os.Signal) {
	select {
	case <-c.over:
	default:
		_ = c.cmd.Process.Signal(s)
	}
}

// await asks again and again until there is no error, or the child has ended.
func (c *child) await(ask func(context.Context) error) error {
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-c.over:
			return fmt.Errorf("it has ended: %w", errors.Join(c.err, err))
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		}
	}
}

// freePort is a port where nobody listens. It is below those that the kernel
// gives to callers, so that none of them has it when a server starts again.
func freePort() (int, error) {
	for range 100 {
		port := 15_000 + rand.IntN(15_000)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("no port of 127.0.0.1 is free")
}

// tail is the end of a file.
func tail(file string) string {
	const most = 4_000
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
