//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rotajobs/rota/action/sandbox/internal/shim"
	"golang.org/x/sys/unix"
)

// startMax bounds the time until a program runs.
const startMax = 30 * time.Second

// endMax is how long a shim without a namespace may take to end everything, and how long what survives it may hold the output.
const endMax = 10 * time.Second

// Process is a program that was started.
type Process struct {
	isolation Isolation
	memory    bool // whether the program has a limit of memory
	cmd       *exec.Cmd
	control   *os.File
	group     *cgroup // nil without one
	result    *resultPipe
	killed    atomic.Bool
	ended     chan struct{} // closed when the shim has ended
}

// Start starts a program. It returns an error if the isolation cannot be established or the program cannot be executed.
func Start(c Command) (*Process, error) {
	if err := c.Policy.Validate(); err != nil {
		return nil, err
	}
	if c.Policy.User != nil && os.Geteuid() != 0 {
		return nil, errors.New("user: only a server that runs as root can execute programs as another user")
	}
	p := &Process{isolation: c.Policy.isolation(), memory: c.Policy.Memory > 0, ended: make(chan struct{})}
	group, limits, err := newCgroup(c.Policy)
	if err != nil {
		return nil, err
	}
	p.group = group
	settings, err := newSettings(c, limits)
	if err == nil {
		err = p.start(c, settings)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Program.name, errors.Join(err, group.remove()))
	}
	return p, nil
}

func (p *Process) start(c Command, settings *shim.Settings) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	theirs := os.NewFile(uintptr(pair[1]), "shim")
	defer theirs.Close()
	if err := unix.SetNonblock(pair[0], true); err != nil {
		return errors.Join(err, unix.Close(pair[0]))
	}
	p.control = os.NewFile(uintptr(pair[0]), "server")
	p.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{shim.Name}, Env: shimEnv,
		Stdout: c.Stdout, Stderr: c.Stderr,
		ExtraFiles:  []*os.File{theirs, c.Program.file},
		SysProcAttr: attributes(c.Policy),
	}
	if p.group != nil {
		p.cmd.SysProcAttr.UseCgroupFD, p.cmd.SysProcAttr.CgroupFD = true, int(p.group.dir.Fd())
	}
	if p.isolation != Full {
		p.cmd.WaitDelay = endMax // a process that survives the shim may hold the output
	}
	message := settings.Encode()
	sent, err := p.sendEarly(message)
	if err != nil {
		return errors.Join(err, p.control.Close())
	}
	if err := p.connect(c); err != nil {
		return errors.Join(explainClone(c.Policy, err), p.control.Close())
	}
	if err := p.handshake(message[sent:]); err != nil {
		return errors.Join(err, p.abort())
	}
	return nil
}

// shimEnv keeps the environment of the server out of the shim. The shim collects no garbage and reads no limits of processors.
var shimEnv = []string{"GOGC=off", "GOMAXPROCS=1"}

// connect starts the shim with the input and output of the program.
func (p *Process) connect(c Command) error {
	var err error
	if c.Result != nil {
		if p.result, err = newResultPipe(); err != nil {
			return err
		}
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, p.result.w)
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

// earlyMax is what fits into the buffer of a socket on every system.
const earlyMax = 16 << 10

// sendEarly sends small settings before the shim starts, so that it finds them and need not wait.
func (p *Process) sendEarly(message []byte) (sent int, err error) {
	if len(message) > earlyMax {
		return 0, nil
	}
	return p.control.Write(message)
}

// handshake sends the rest of the settings, and waits until the program runs.
func (p *Process) handshake(rest []byte) error {
	if err := p.control.SetDeadline(time.Now().Add(startMax)); err != nil {
		return err
	}
	if _, err := p.control.Write(rest); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	report, err := shim.ReadReport(p.control)
	if err := notStarted(report, err); err != nil {
		return err
	}
	return p.control.SetDeadline(time.Time{})
}

// notStarted returns why the program does not run, nil if it does.
func notStarted(report shim.Report, err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the shim has not started the program within %s: %w", startMax, err)
	case err != nil:
		return fmt.Errorf("the shim ended before the program started: %w", err)
	case report.Kind == shim.Failed:
		return errors.New(report.Failed)
	}
	return nil
}

// abort ends a shim that has not started its program.
func (p *Process) abort() error {
	_ = p.cmd.Process.Kill()
	_ = p.killLeft()
	_ = p.cmd.Wait()
	_ = p.result.wait(p.cmd.WaitDelay)
	return p.control.Close()
}

// attributes says in which namespaces the shim starts. Its capabilities there are needed to build the root directory.
func attributes(p Policy) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if p.isolation() != Full {
		return attr
	}
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !p.Network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() == 0 {
		attr.UidMappings, attr.GidMappings = ownIDs("uid"), ownIDs("gid")
		attr.GidMappingsEnableSetgroups = true
		return attr
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	return attr
}

// Terminate sends SIGTERM to the process group of the program.
func (p *Process) Terminate() error { return p.order(shim.Terminate) }

// Kill ends the program and everything it has started. It does not wait.
func (p *Process) Kill() error {
	p.killed.Store(true)
	if p.isolation == Full {
		return ignoreEnded(p.cmd.Process.Kill()) // the first process of a namespace takes all others along
	}
	groupErr := p.group.kill()
	go p.insist()
	return errors.Join(groupErr, p.order(shim.Kill))
}

// insist kills a shim that does not end, because its program has stopped it.
func (p *Process) insist() {
	select {
	case <-p.ended:
	case <-time.After(endMax):
		_ = p.cmd.Process.Kill()
	}
}

func (p *Process) order(one byte) error {
	_, err := p.control.Write([]byte{one})
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil // it has ended
	}
	return ignoreEnded(err)
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// Wait waits until nothing of the program is left. The error is about its input and output; Exit is valid in any case.
func (p *Process) Wait() (Exit, error) {
	report, reportErr := shim.ReadReport(p.control)
	if reportErr != nil || leftError(report) != nil {
		_ = p.killLeft() // before the wait for the output, which what is left may hold
	}
	err := p.cmd.Wait()
	close(p.ended)
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		err = nil // the status of the shim
	}
	killErr := p.group.kill()
	resultErr := p.result.wait(p.cmd.WaitDelay)
	leftErr := leftError(report)
	if p.group.endsAll() {
		leftErr = nil // the kernel has killed the rest
	}
	exit := p.exit(report, reportErr == nil && report.Kind == shim.Ended)
	return exit, errors.Join(err, leftErr, resultErr, killErr, p.group.remove(), p.control.Close())
}

// leftError names what the shim could not end.
func leftError(report shim.Report) error {
	if left := report.Left + report.Failed; left != "" {
		return errors.New(left)
	}
	return nil
}

// killLeft kills what a killed shim has left. In full isolation, that is nothing. Without a cgroup, a process that has created a session
// of its own is not found.
func (p *Process) killLeft() error {
	if p.isolation == Full {
		return nil
	}
	err := p.group.kill()
	killSession(p.cmd.Process.Pid)
	return err
}

func (p *Process) exit(report shim.Report, has bool) Exit {
	exit := Exit{Killed: p.killed.Load()}
	if !has {
		// The shim was killed, and the program with it.
		exit.Code, exit.Signal = -1, syscall.SIGKILL
		if used, is := p.cmd.ProcessState.SysUsage().(*syscall.Rusage); is {
			exit.CPU, exit.MemoryKB = time.Duration(used.Utime.Nano()+used.Stime.Nano()), used.Maxrss
		}
	} else {
		exit.Code, exit.CPU, exit.MemoryKB = report.Status.ExitStatus(), report.CPU, report.Memory
		if report.Status.Signaled() {
			exit.Signal = report.Status.Signal()
		}
	}
	exit.Limit = p.limit(exit)
	return exit
}

// limit names the limit that ended the program.
func (p *Process) limit(exit Exit) string {
	switch {
	case p.group.outOfMemory():
		return "memory"
	case exit.Signal == syscall.SIGXCPU:
		return "cpu"
	case exit.Signal == syscall.SIGXFSZ:
		return "file size"
	}
	return ""
}
