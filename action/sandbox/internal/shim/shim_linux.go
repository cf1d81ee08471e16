//go:build amd64 || arm64

package shim

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Name is the only argument of a shim.
const Name = "sandbox: shim"

// init runs the shim if this process is one. A process is a shim if it has the name of one and no other arguments, and if its descriptor
// 3 is a socket on which settings arrive. Users cannot do that from a command line, and who does it from a program executes a program
// of their own with rights that they already have.
func init() {
	if len(os.Args) != 1 || os.Args[0] != Name || !isSocket(controlFD) {
		return
	}
	runtime.LockOSThread()
	s, err := readSettings()
	if err == nil {
		err = run(s)
	}
	send(Failed, []byte(err.Error()))
	syscall.Exit(1)
}

func isSocket(fd int) bool {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	return err == nil && domain == unix.AF_UNIX
}

func readSettings() (*Settings, error) {
	var head [4]byte
	if err := readFull(head[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.LittleEndian.Uint32(head[:]))
	if err := readFull(body); err != nil {
		return nil, err
	}
	s := &Settings{}
	return s, s.decode(body)
}

func readFull(buf []byte) error {
	for len(buf) > 0 {
		n, err := syscall.Read(controlFD, buf)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return failure("read the settings", err)
		case n == 0:
			return errors.New("the server ended before it sent the settings")
		default:
			buf = buf[n:]
		}
	}
	return nil
}

// run starts the program, waits for its end, and ends this process. It returns if the program could not be started.
func run(s *Settings) error {
	if err := prepareProcess(s); err != nil {
		return err
	}
	if s.Namespaces {
		if err := enterRoot(s); err != nil {
			return err
		}
	}
	ruleset, err := s.Landlock.build(s.Confine)
	if err != nil {
		return err
	}
	pid, err := start(s, ruleset)
	if err != nil {
		return err
	}
	send(Started, nil)
	supervise(s, pid)
	return nil
}

// prepareProcess ignores the signals that a service manager sends to all processes of the server: the server decides when the
// program ends. Descendants of the program that lose their parent become children of the shim.
func prepareProcess(s *Settings) error {
	for _, sig := range ignored {
		if err := setHandler(sig, 1); err != nil {
			return failure("ignore signals", err)
		}
	}
	if err := unix.CloseRange(controlFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return failure("close_range ("+TooOld+" 5.11)", err)
	}
	if s.Probe {
		if err := probePidfd(); err != nil {
			return failure("pidfd_open ("+TooOld+" 5.3)", err)
		}
	}
	endFirst()
	if s.Namespaces {
		return nil
	}
	return failure("become a subreaper", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// TooOld is in the error for a kernel without a system call that every isolation needs.
const TooOld = "since Linux"

// probePidfd looks for what the shim needs when the program has ended.
func probePidfd() error {
	fd, err := unix.PidfdOpen(unix.Getpid(), 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// endFirst lets the kernel end programs before the server if the machine has no memory left. It is a help and no limit, so its error
// does not matter.
func endFirst() {
	fd, err := unix.Open("/proc/self/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = unix.Write(fd, []byte("1000"))
	unix.Close(fd)
}

// failure returns an error that names an act, or nil.
func failure(act string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(act + ": " + err.Error())
}
