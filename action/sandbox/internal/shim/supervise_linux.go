//go:build amd64 || arm64

package shim

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// supervise waits for the end of the program, ends what is left of it, and ends this process.
func supervise(s *Settings, program int) {
	releaseOutput()
	go obey(s, program)
	for {
		var status syscall.WaitStatus
		var used syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, unix.WALL, &used)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid == program {
			if !s.Namespaces {
				endAll()
			}
			if err == nil {
				sendEnded(status, &used)
			}
			syscall.Exit(0) // ends all other processes of the namespace
		}
	}
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
func obey(s *Settings, program int) {
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
			_ = syscall.Kill(-program, syscall.SIGTERM)
		}
	}
	if s.Namespaces {
		syscall.Exit(1)
	}
	_ = syscall.Kill(-program, syscall.SIGKILL)
	for {
		killDescendants() // until supervise ends this process
	}
}

// endAll kills all descendants. Those that lose their parent become children of this process, so none is left when it has no children.
func endAll() {
	for {
		pid, err := syscall.Wait4(-1, nil, unix.WALL|unix.WNOHANG, nil)
		if err == syscall.ECHILD {
			return
		}
		if pid == 0 {
			killDescendants()
		}
	}
}

// killDescendants kills every process that has this one as an ancestor. The next call finds those that were started meanwhile.
func killDescendants() {
	self := os.Getpid()
	parent := parentsOfAll()
	for pid := range parent {
		for at, depth := pid, 0; at > 1 && depth < 1<<16; at, depth = parent[at], depth+1 {
			if parent[at] == self {
				killChild(pid, parent[pid])
				break
			}
		}
	}
}

// killChild kills a process if it still has the parent: its number may belong to another process by now.
func killChild(pid, parent int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, is := parentOf(strconv.Itoa(pid)); is && now == parent {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// parentsOfAll returns the parent of every process.
func parentsOfAll() map[int]int {
	all := map[int]int{}
	dir, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if parent, is := parentOf(name); is {
			all[pid] = parent
		}
	}
	return all
}

func parentOf(pid string) (parent int, is bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false
	}
	// The name of the program is in parentheses and may contain some.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, err == nil
}
