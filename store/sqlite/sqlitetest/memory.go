package sqlitetest

import (
	"os"
	"testing"
)

// MemoryDir returns a temporary directory on a file system in memory, if the machine has one with
// enough free space, because most tests take less time than the disk. Tests about durability use
// t.TempDir instead.
func MemoryDir(t testing.TB) string {
	t.Helper()
	const shm, minFree = "/dev/shm", 1 << 30
	if freeBytes(shm) < minFree {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(shm, "rota-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
