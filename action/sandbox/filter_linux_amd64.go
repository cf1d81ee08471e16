package sandbox

import "golang.org/x/sys/unix"

const (
	machine    = unix.AUDIT_ARCH_X86_64
	foreignBit = 0x40000000 // of the calls of the x32 interface
)

// oldFileCalls are older forms of the calls of refusedOnHost.
var oldFileCalls = []uintptr{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}

// oldModeCalls are older forms of modeCalls.
var oldModeCalls = []modeCall{{unix.SYS_CHMOD, 1, 0}, {unix.SYS_CREAT, 1, 0}, {unix.SYS_MKNOD, 1, 0}, {unix.SYS_OPEN, 2, 1}}

var oldWatches = []uintptr{unix.SYS_INOTIFY_INIT}
