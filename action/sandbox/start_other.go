//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// endMax is how long Wait waits for output that a process of the program may hold after its end.
const endMax = 10 * time.Second

// Probe is ProbePolicy for an isolation.
func Probe(isolation Isolation) (warnings []string, err error) {
	return ProbePolicy(Policy{Isolation: isolation})
}

// ProbePolicy returns an error that names what this system lacks for an isolation, and warnings that name what it does in a weaker form. Call
// it at start for each isolation that occurs.
func ProbePolicy(p Policy) (warnings []string, err error) {
	if err := errors.Join(p.Validate(), supported(p)); err != nil {
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

// Resolve returns the policy with the paths of Hidden free of symbolic links.
func (p Policy) Resolve() (Policy, error) {
	hidden := slices.Clone(p.Hidden)
	for i, path := range hidden {
		hidden[i] = resolve(path)
	}
	p.Hidden = hidden
	return p, nil
}

// Process is a program that was started.
type Process struct {
	cmd    *exec.Cmd
	result *resultPipe
	killed atomic.Bool
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
		return nil, fmt.Errorf("start %s: %w", c.Program.name, err)
	}
	return p, nil
}

func (p *Process) start(c Command) (err error) {
	if c.Result != nil {
		if p.result, err = newResultPipe(); err != nil {
			return err
		}
		p.cmd.ExtraFiles = []*os.File{p.result.w}
		p.cmd.Env = append(p.cmd.Env, ResultVariable+"=3")
	}
	feed, err := inputPipe(p.cmd, c.Stdin)
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.result.close()
		return err
	}
	p.result.copyTo(c.Result)
	if feed != nil {
		go copyInput(feed, c.Stdin)
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
	resultErr := p.result.wait(endMax)
	state := p.cmd.ProcessState
	exit := Exit{Code: state.ExitCode(), Killed: p.killed.Load(), CPU: state.UserTime() + state.SystemTime()}
	exit.Signal = signalOf(state)
	return exit, errors.Join(err, resultErr)
}
