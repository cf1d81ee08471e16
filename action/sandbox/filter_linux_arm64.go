package sandbox

import "golang.org/x/sys/unix"

const (
	machine    = unix.AUDIT_ARCH_AARCH64
	foreignBit = 0 // no second interface
)
