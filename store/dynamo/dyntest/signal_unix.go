//go:build unix

package dyntest

import "syscall"

// Signals that stop a process and continue it.
const (
	stopSignal     = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
)
