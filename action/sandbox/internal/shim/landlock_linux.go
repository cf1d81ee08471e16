//go:build amd64 || arm64

package shim

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fileRights are the rights that can be given for a file that is no directory.
const fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
	unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

// build returns a descriptor of the ruleset, or -1 if there is none.
func (r *Ruleset) build(wanted bool) (int, error) {
	if !wanted {
		return -1, nil
	}
	attr := unix.LandlockRulesetAttr{Access_fs: r.Files, Access_net: r.Net, Scoped: r.Scoped}
	size := unsafe.Sizeof(attr)
	if r.Scoped == 0 {
		size = 16
		if r.Net == 0 {
			size = 8
		}
	}
	fd, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
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
	fd, err := openReal(rule.Path)
	if err == unix.ENOENT {
		return nil // nothing to allow
	}
	if err != nil {
		return failure("open "+rule.Path, err)
	}
	defer unix.Close(fd)
	var found unix.Stat_t
	if err := unix.Fstat(fd, &found); err != nil {
		return failure("read the attributes of "+rule.Path, err)
	}
	access := rule.Access
	if found.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileRights
	}
	return failure("allow "+rule.Path+" by Landlock", addFile(ruleset, fd, access))
}

func addFile(ruleset, fd int, access uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := syscall.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
