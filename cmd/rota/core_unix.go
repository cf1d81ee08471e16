//go:build unix && !linux && !solaris && !aix

package main

import "golang.org/x/sys/unix"

// withholdMemory keeps the memory of the process, which holds secrets and keys, out of core files.
func withholdMemory() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
