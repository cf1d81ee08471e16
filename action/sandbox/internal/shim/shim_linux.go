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
		return failure("close_range", err)
	}
	if s.Namespaces {
		return nil
	}
	return failure("become a subreaper", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// failure returns an error that names an act, or nil.
func failure(act string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(act + ": " + err.Error())
}
