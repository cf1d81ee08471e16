//go:build unix

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dirLock keeps a second server off a data directory. The kernel releases it
// when the process ends, even after a crash.
type dirLock struct{ file *os.File }

func lockData(data string) (*dirLock, error) {
	name := filepath.Join(data, lockName)
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, dataError(name, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, heldBy(data, file)
		}
		return nil, dataError(name, err)
	}
	// The process id only informs people: failing to write it, as on a full disk, must not stop the server.
	if err := file.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(file, "%d\n", os.Getpid())
	}
	return &dirLock{file}, nil
}

// release keeps the file but removes the process id: a person might send that
// process a signal, and the system may have given the id to another one.
func (l *dirLock) release() error {
	_ = l.file.Truncate(0)
	return l.file.Close()
}
