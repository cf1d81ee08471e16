package sandbox

import "golang.org/x/sys/unix"

const (
	machine    = unix.AUDIT_ARCH_X86_64
	foreignBit = 0x40000000 // of the calls of the x32 interface
)
