package dyntest

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// endsWithParent tells that a server ends with the process that started it, also if that is killed.
const endsWithParent = true

// endWithParent has a program end with the thread that starts it. In a group of its own it gets no interrupt of the terminal.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// waitStopped waits until all threads of a child have stopped: the signal takes effect after the call.
func waitStopped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
