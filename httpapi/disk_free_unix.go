//go:build linux || darwin

package httpapi

import "syscall"

// freeDiskSpace returns the free bytes on the disk of a directory.
func freeDiskSpace(dir string) (free uint64, known bool) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, false
	}
	return disk.Bavail * uint64(disk.Bsize), true
}
