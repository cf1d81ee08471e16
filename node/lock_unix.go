//go:build unix

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dirLock keeps a second server off a data directory. The kernel lets go of it
// when the process ends, however it ends.
type dirLock struct{ file *os.File }

func lockData(data string) (*dirLock, error) {
	name := filepath.Join(data, lockName)
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, dataFault(name, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, heldBy(data, file)
		}
		return nil, dataFault(name, err)
	}
	// The number is for people only: a full disk must not keep the server down.
	if err := file.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(file, "%d\n", os.Getpid())
	}
	return &dirLock{file}, nil
}

// release leaves the file, without the number: somebody may send a signal to it,
// and by then it may be that of another process.
func (l *dirLock) release() error {
	_ = l.file.Truncate(0)
	return l.file.Close()
}
