package sqlitetest

import "golang.org/x/sys/unix"

// freeBytes returns the free space of a file system, or 0 if there is none.
func freeBytes(path string) uint64 {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil {
		return 0
	}
	return fs.Bavail * uint64(fs.Bsize)
}
