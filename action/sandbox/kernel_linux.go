//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/rotajobs/rota/action/sandbox/internal/shim"
	"golang.org/x/sys/unix"
)

// landlockVersion is the version of Landlock in this kernel, 0 if it has none.
var landlockVersion = sync.OnceValue(func() int {
	version, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
})

// Versions of Landlock that added rights.
const (
	landlockRefer    = 2
	landlockTruncate = 3
	landlockNet      = 4
	landlockIoctl    = 5
	landlockScopes   = 6
)

// kernelRights returns everything that this kernel can forbid.
func kernelRights(network bool) shim.Ruleset {
	version := landlockVersion()
	r := shim.Ruleset{Files: rightsAll}
	if version < landlockRefer {
		r.Files &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version < landlockTruncate {
		r.Files &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version < landlockIoctl {
		r.Files &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= landlockNet && !network {
		r.Net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= landlockScopes {
		r.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return r
}

// hasOwnPIDMax says whether each process namespace has its own kernel.pid_max, as since Linux 6.14.
var hasOwnPIDMax = sync.OnceValue(func() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	release := string(bytes.TrimRight(name.Release[:], "\x00"))
	major, minor := kernelVersion(release)
	return major > 6 || major == 6 && minor >= 14
})

// kernelVersion reads the first two numbers of a release, such as 6.18.44-amd64.
func kernelVersion(release string) (major, minor int) {
	numbers := bytes.FieldsFunc([]byte(release), func(r rune) bool { return r < '0' || r > '9' })
	if len(numbers) < 2 {
		return 0, 0
	}
	major, _ = strconv.Atoi(string(numbers[0]))
	minor, _ = strconv.Atoi(string(numbers[1]))
	return major, minor
}

// countThreads counts the threads of a user.
func countThreads(uid int) (int, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	count := 0
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil || int(info.Sys().(*syscall.Stat_t).Uid) != uid {
			continue
		}
		threads, err := os.ReadDir(dir + "/task")
		if err == nil {
			count += len(threads)
		}
	}
	return count, nil
}
