//go:build unix && !linux

package sandbox

import "syscall"

const openFlags = syscall.O_RDONLY
