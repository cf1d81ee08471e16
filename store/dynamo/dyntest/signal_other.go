//go:build !unix

package dyntest

import "syscall"

// No signal stops a process on other systems: sending these fails.
const (
	stopSignal     = syscall.Signal(-1)
	continueSignal = syscall.Signal(-2)
)
