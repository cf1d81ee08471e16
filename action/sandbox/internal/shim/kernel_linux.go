//go:build amd64 || arm64

package shim

import (
	"syscall"
	"unsafe"
)

// This file stands in for golang.org/x/sys/unix, whose initialisation comes after that of most of the standard library. The numbers are
// the same on amd64 and arm64, except that of seccomp.
const (
	sysPidfdSend       = 424
	sysOpenTree        = 428
	sysMoveMount       = 429
	sysFsopen          = 430
	sysFsconfig        = 431
	sysFsmount         = 432
	sysPidfdOpen       = 434
	sysCloseRange      = 436
	sysMountSetattr    = 442
	sysLandlockCreate  = 444
	sysLandlockAdd     = 445
	sysLandlockEnforce = 446
)

const (
	atCurrentDir = -100
	atEmptyPath  = 0x1000
	atRecursive  = 0x8000
	openPath     = 0x200000 // O_PATH

	openTreeClone   = 0x1
	moveEmptyPath   = 0x4
	closeOnExec     = 0x1 // of file systems and mounts that are not attached yet
	configString    = 1
	configCreate    = 6
	closeRangeFlags = 0x4 // close on exec

	mountReadOnly = 0x1
	mountNoSetuid = 0x2
	mountNoDevice = 0x4
	mountNoExec   = 0x8

	prSetDeathSignal = 1
	prDropBounding   = 24
	prSetSecurebits  = 28
	prSubreaper      = 36
	prNoNewPrivs     = 38
	prAmbient        = 47
	ambientClear     = 4
	capLast          = 40
	capVersion       = 0x20080522

	limitCPU    = 0
	setMask     = 2
	domain      = 39 // SO_DOMAIN
	secureMode  = 1  // of seccomp: install a filter
	ruleBeneath = 1
)

// Rights of Landlock for files that are no directories.
const (
	landlockExecute  = 1 << 0
	landlockWrite    = 1 << 1
	landlockRead     = 1 << 2
	landlockTruncate = 1 << 14
	landlockIoctl    = 1 << 15
)

type (
	mountAttr     struct{ set, clear, propagation, user uint64 }
	rulesetAttr   struct{ files, net, scoped uint64 }
	beneathAttr   struct{ access, fd uint64 } // the kernel reads 12 bytes, and the machines are little-endian
	capHeader     struct{ version, pid uint32 }
	capData       struct{ effective, permitted, inheritable uint32 }
	filterProgram struct {
		length uint16
		code   unsafe.Pointer
	}
)

func call(number uintptr, args ...uintptr) (int, error) {
	var a [6]uintptr
	copy(a[:], args)
	for {
		n, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return -1, errno
		}
		return int(n), nil
	}
}

func openTree(dir int, path string, flags uintptr) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	fd, _, errno := syscall.Syscall(sysOpenTree, uintptr(dir), uintptr(unsafe.Pointer(p)), flags)
	return result(fd, errno)
}

// moveMount attaches a mount.
func moveMount(fd int, path string) error {
	empty := new(byte)
	target, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	dir := atCurrentDir
	_, _, errno := syscall.Syscall6(sysMoveMount, uintptr(fd), uintptr(unsafe.Pointer(empty)), uintptr(dir), uintptr(unsafe.Pointer(target)), moveEmptyPath, 0)
	_, err = result(0, errno)
	return err
}

func mountSetattr(fd int, flags uintptr, attr *mountAttr) error {
	empty := new(byte)
	_, _, errno := syscall.Syscall6(sysMountSetattr, uintptr(fd), uintptr(unsafe.Pointer(empty)), flags, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr), 0)
	_, err := result(0, errno)
	return err
}

func fsopen(kind string) (int, error) {
	p, err := syscall.BytePtrFromString(kind)
	if err != nil {
		return -1, err
	}
	fd, _, errno := syscall.Syscall(sysFsopen, uintptr(unsafe.Pointer(p)), closeOnExec, 0)
	return result(fd, errno)
}

func fsconfig(fd int, key, value string) error {
	k, err := syscall.BytePtrFromString(key)
	if err != nil {
		return err
	}
	v, err := syscall.BytePtrFromString(value)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(sysFsconfig, uintptr(fd), configString, uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(v)), 0, 0)
	_, err = result(0, errno)
	return err
}

func result(n uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

func prctl(option, value uintptr) error {
	_, err := call(syscall.SYS_PRCTL, option, value)
	return err
}
