//go:build unix

package action

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockDir locks a directory until the file is closed or this process ends. It fails if another process holds the lock.
func lockDir(root *os.Root) (*os.File, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = dir.Close()
		return nil, err
	}
	return dir, nil
}
