package sandbox

import "golang.org/x/sys/unix"

const (
	machine    = unix.AUDIT_ARCH_AARCH64
	foreignBit = 0 // no second interface
)

// This machine has no older forms of calls.
var (
	oldFileCalls []uintptr
	oldModeCalls []modeCall
)

var oldWatches []uintptr
