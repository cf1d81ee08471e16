//go:build amd64 || arm64

package shim

import (
	"syscall"
	"unsafe"
)

// fileRights are the rights that can be given for a file that is no directory.
const fileRights = landlockExecute | landlockWrite | landlockRead |
	landlockTruncate | landlockIoctl

// build returns a descriptor of the ruleset, or -1 if there is none.
func (r *Ruleset) build(wanted bool) (int, error) {
	if !wanted {
		return -1, nil
	}
	attr := rulesetAttr{r.Files, r.Net, r.Scoped}
	size := unsafe.Sizeof(attr)
	if r.Scoped == 0 {
		size = 16
		if r.Net == 0 {
			size = 8
		}
	}
	fd, _, errno := syscall.RawSyscall(sysLandlockCreate, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, failure("create the rules of Landlock", errno)
	}
	for _, rule := range r.Rules {
		if err := addPath(int(fd), rule); err != nil {
			return -1, err
		}
	}
	if r.Program != 0 {
		if err := addFile(int(fd), programFD, r.Program&fileRights&r.Files); err != nil {
			return -1, failure("allow the program by Landlock", err)
		}
	}
	return int(fd), nil
}

func addPath(ruleset int, rule Rule) error {
	fd, err := syscall.Open(rule.Path, openPath|syscall.O_CLOEXEC, 0)
	if err == syscall.ENOENT {
		return nil // nothing to allow
	}
	if err != nil {
		return failure("open "+rule.Path, err)
	}
	defer syscall.Close(fd)
	var found syscall.Stat_t
	if err := syscall.Fstat(fd, &found); err != nil {
		return failure("read the attributes of "+rule.Path, err)
	}
	access := rule.Access
	if found.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		access &= fileRights
	}
	return failure("allow "+rule.Path+" by Landlock", addFile(ruleset, fd, access))
}

func addFile(ruleset, fd int, access uint64) error {
	attr := beneathAttr{access, uint64(fd)}
	_, _, errno := syscall.RawSyscall6(sysLandlockAdd, uintptr(ruleset), ruleBeneath,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
