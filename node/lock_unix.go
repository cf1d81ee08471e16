//go:build unix

package node

import (
	"errors"
	"os"

	"github.com/rotajobs/rota/internal/nofollow"
	"golang.org/x/sys/unix"
)

// TryLock creates and locks a file, as a server does with the lock of its data directory. It returns a nil file if
// another process holds the lock. The kernel releases the lock when the process ends, even after a crash.
func TryLock(path string) (*os.File, error) {
	file, err := nofollow.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // the caller truncates it
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	return file, nil
}
