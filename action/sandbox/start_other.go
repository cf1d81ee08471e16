//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// endMax is how long Wait waits for output that a process of the program may hold after its end.
const endMax = 10 * time.Second

// Probe returns an error that names what this system lacks for an isolation, and warnings that name what it does in a weaker form. Call
// it once at start.
func Probe(isolation Isolation) (warnings []string, err error) {
	if err := supported(Policy{Isolation: isolation}); err != nil {
		return nil, err
	}
	return []string{
		"memory, cpu, processes, open files and file size: not limited on " + runtime.GOOS,
		"what a program has started in a session of its own survives the program on " + runtime.GOOS,
	}, nil
}

func supported(p Policy) error {
	if p.isolation() != None {
		return fmt.Errorf("isolation %s: needs Linux on amd64 or arm64, this is %s on %s; use isolation none, where programs can do what the "+
			"user of the server can do: %w", p.isolation(), runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
	}
	if p.User != nil {
		return fmt.Errorf("user: programs cannot be executed as another user on %s; remove it from the configuration", runtime.GOOS)
	}
	return nil
}

// Process is a program that was started.
type Process struct {
	cmd       *exec.Cmd
	result    sync.WaitGroup
	resultErr error
	killed    atomic.Bool
}

// Start starts a program. It returns an error if the isolation is not supported or the program cannot be executed.
func Start(c Command) (*Process, error) {
	if err := errors.Join(c.Policy.Validate(), supported(c.Policy)); err != nil {
		return nil, err
	}
	p := &Process{cmd: &exec.Cmd{
		Path: c.Program.path, Args: append([]string{c.Program.name}, c.Args...), Env: slices.Clone(c.Env), Dir: c.Policy.Dir,
		Stdout: c.Stdout, Stderr: c.Stderr, SysProcAttr: attributes(), WaitDelay: endMax,
	}}
	if c.Dir != "" {
		p.cmd.Dir = c.Dir
	}
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would be the environment of the server
	}
	if err := p.start(c); err != nil {
		p.result.Wait()
		return nil, fmt.Errorf("start %s: %w", c.Program.name, err)
	}
	return p, nil
}

func (p *Process) start(c Command) error {
	var feed io.WriteCloser
	switch in := c.Stdin.(type) {
	case nil:
	case *os.File:
		p.cmd.Stdin = in
	default:
		var err error
		if feed, err = p.cmd.StdinPipe(); err != nil {
			return err
		}
	}
	if c.Result != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer w.Close()
		p.cmd.ExtraFiles = []*os.File{w}
		p.cmd.Env = append(p.cmd.Env, ResultVariable+"=3")
		p.result.Go(func() {
			_, err := io.Copy(c.Result, r)
			p.resultErr = errors.Join(err, r.Close())
		})
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if feed != nil {
		go func() {
			_, _ = io.Copy(feed, c.Stdin) // a program need not read its input
			_ = feed.Close()
		}()
	}
	return nil
}

// Terminate sends SIGTERM to the process group of the program. Windows has no such signal, and ends it.
func (p *Process) Terminate() error { return ignoreEnded(p.signal(syscall.SIGTERM)) }

// Kill ends the program and its process group. It does not wait.
func (p *Process) Kill() error {
	p.killed.Store(true)
	return ignoreEnded(p.signal(syscall.SIGKILL))
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.Errno(3)) { // ESRCH
		return nil
	}
	return err
}

// Wait waits for the end of the program and of its output. The error is about its input and output; Exit is valid in any case.
func (p *Process) Wait() (Exit, error) {
	err := p.cmd.Wait()
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		err = nil
	}
	_ = p.signal(syscall.SIGKILL) // what is left of its group
	p.result.Wait()
	state := p.cmd.ProcessState
	exit := Exit{Code: state.ExitCode(), Killed: p.killed.Load(), CPU: state.UserTime() + state.SystemTime()}
	exit.Signal = signalOf(state)
	return exit, errors.Join(err, p.resultErr)
}
