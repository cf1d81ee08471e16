//go:build !linux

package sqlitetest

// freeBytes returns 0, so that tests use the disk.
func freeBytes(string) uint64 { return 0 }
