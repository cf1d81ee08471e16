//go:build amd64 || arm64

package shim

import (
	"encoding/binary"
	"errors"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signals that the shim ignores and the program gets with their default.
var ignored = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE}

// step is a system call of the child between fork and exec. The child is a copy of one thread of a Go process, and must not allocate,
// grow its stack or call the scheduler, so everything is prepared before.
type step struct {
	act    string
	number uintptr
	args   [5]uintptr
}

// child is the list of steps. It keeps what the steps point to.
type child struct {
	steps []step
	keep  []any
}

func (c *child) add(act string, number uintptr, args ...uintptr) {
	s := step{act: act, number: number}
	copy(s.args[:], args)
	c.steps = append(c.steps, s)
}

func (c *child) pointer(p unsafe.Pointer) uintptr {
	c.keep = append(c.keep, p)
	return uintptr(p)
}

func (c *child) text(s string) (uintptr, error) {
	b, err := syscall.BytePtrFromString(s)
	if err != nil {
		return 0, failure(s, errors.New("contains a zero byte"))
	}
	return c.pointer(unsafe.Pointer(b)), nil
}

func (c *child) texts(list ...string) (uintptr, error) {
	p, err := syscall.SlicePtrFromStrings(list)
	if err != nil {
		return 0, errors.New("an argument or a variable contains a zero byte")
	}
	return c.pointer(unsafe.Pointer(unsafe.SliceData(p))), nil
}

// start forks, and returns when the child executes the program.
func start(s *Settings, ruleset int) (pid int, err error) {
	c := &child{}
	if err := c.prepare(s, ruleset); err != nil {
		return 0, err
	}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return 0, failure("create a pipe", err)
	}
	p, errno := fork(unsafe.SliceData(c.steps), len(c.steps), uintptr(pipe[1]))
	runtime.KeepAlive(c)
	syscall.Close(pipe[1])
	if errno != 0 {
		return 0, failure("fork", errno)
	}
	var answer [16]byte
	n, _ := syscall.Read(pipe[0], answer[:])
	syscall.Close(pipe[0])
	if n < len(answer) {
		return int(p), nil
	}
	var status syscall.WaitStatus
	_, _ = syscall.Wait4(int(p), &status, 0, nil)
	at := binary.LittleEndian.Uint64(answer[:])
	return 0, failure(c.steps[at].act, syscall.Errno(binary.LittleEndian.Uint64(answer[8:])))
}

// fork copies this process and executes the steps in the copy. It blocks signals, because the handlers of Go must not run there; the
// last steps unblock them.
//
//go:norace
//go:nosplit
func fork(steps *step, count int, failed uintptr) (pid uintptr, errno syscall.Errno) {
	var answer [2]uint64
	all, before := ^uint64(0), uint64(0)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&before)), 8, 0, 0)
	pid, _, errno = syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&before)), 0, 8, 0, 0)
		return pid, errno
	}
	for i := 0; i < count; i++ {
		s := (*step)(unsafe.Add(unsafe.Pointer(steps), uintptr(i)*unsafe.Sizeof(step{})))
		_, _, errno = syscall.RawSyscall6(s.number, s.args[0], s.args[1], s.args[2], s.args[3], s.args[4], 0)
		if errno != 0 {
			answer[0], answer[1] = uint64(i), uint64(errno)
			syscall.RawSyscall6(syscall.SYS_WRITE, failed, uintptr(unsafe.Pointer(&answer)), 16, 0, 0, 0)
			break
		}
	}
	for {
		syscall.RawSyscall6(syscall.SYS_EXIT_GROUP, 127, 0, 0, 0, 0, 0)
	}
}

// setHandler sets the handler of a signal to the default (0) or to ignoring it (1).
func setHandler(sig syscall.Signal, handler uint64) error {
	action := [8]uint64{handler}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
