//go:build amd64 || arm64

package shim

import (
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	endMax  = 30 * time.Second // between the end of the program and that of its descendants
	killMax = 8 * time.Second  // between the order to kill and the end of this process; the server waits a little longer
)

// program is the process that the shim waits for.
type program struct {
	pid   int
	mu    sync.Mutex
	ended bool // its number may belong to another process
}

// signal sends a signal to the process group of the program.
func (p *program) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_ = syscall.Kill(-p.pid, sig)
	}
}

func (p *program) setEnded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// supervise waits for the end of the program, ends what is left of it, and ends this process.
func supervise(s *Settings, pid int) {
	releaseOutput()
	p := &program{pid: pid}
	go obey(s, p)
	var status syscall.WaitStatus
	var used syscall.Rusage
	for {
		ended, err := nextEnded()
		if ended == pid {
			p.setEnded()
		}
		if err == nil {
			_, err = syscall.Wait4(ended, &status, unix.WALL, &used)
		}
		if err == syscall.EINTR {
			continue
		}
		if err != nil || ended == pid {
			finish(s, err == nil, status, &used)
		}
	}
}

// nextEnded waits for a child that has ended, and leaves it a zombie, which keeps its number.
func nextEnded() (pid int, err error) {
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil); err != nil {
		return 0, err
	}
	return int((*[8]int32)(unsafe.Pointer(&info))[4]), nil // si_pid
}

// finish ends all descendants and this process, whose end is that of all other processes of a namespace.
func finish(s *Settings, has bool, status syscall.WaitStatus, used *syscall.Rusage) {
	left := ""
	if !s.Namespaces {
		left = endAll(endMax, reapAll)
	}
	exit(func() {
		if has {
			sendEnded(status, used, left)
		}
	})
}

var exiting sync.Mutex

// exit sends the last report and ends this process. Of two callers, one succeeds.
func exit(report func()) {
	exiting.Lock()
	report()
	syscall.Exit(0)
}

// releaseOutput gives up input and output of the program, so that their other ends notice when the program closes them.
func releaseOutput() {
	fd, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	for i := range 3 {
		if err != nil || syscall.Dup3(fd, i, 0) != nil {
			syscall.Close(i)
		}
	}
	syscall.Close(programFD)
	syscall.Close(resultFD)
}

// obey executes orders until the server closes the socket, which it does by dying, too.
func obey(s *Settings, p *program) {
	var order [1]byte
	for {
		n, err := syscall.Read(controlFD, order[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 || order[0] == Kill {
			break
		}
		if order[0] == Terminate {
			p.signal(syscall.SIGTERM)
		}
	}
	if s.Namespaces {
		syscall.Exit(1)
	}
	p.signal(syscall.SIGKILL)
	left := endAll(killMax, func() (done, progress bool) { return false, false }) // supervise ends this process before, if it can
	exit(func() { send(Failed, []byte(left)) })
}
