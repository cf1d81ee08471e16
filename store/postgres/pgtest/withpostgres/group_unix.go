//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup starts the command in a process group of its own, so that a signal reaches
// the tests that go test has started, and each of them once.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(cmd *exec.Cmd, s os.Signal) {
	_ = syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal)) // the group may already be empty
}
