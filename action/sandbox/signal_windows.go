package sandbox

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func (p *Process) signal(syscall.Signal) error { return p.cmd.Process.Kill() }

func signalOf(*os.ProcessState) syscall.Signal { return 0 }
