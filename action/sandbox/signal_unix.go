//go:build unix && (!linux || !(amd64 || arm64))

package sandbox

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (p *Process) signal(sig syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, sig) }

func signalOf(state *os.ProcessState) syscall.Signal {
	if status, is := state.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return status.Signal()
	}
	return 0
}
