//go:build !unix

package node

import (
	"fmt"
	"os"
	"path/filepath"
)

// dirLock keeps a second server off a data directory. Without flock, the process
// keeps the file open, which prevents other processes from removing it.
type dirLock struct{ file *os.File }

func lockData(data string) (*dirLock, error) {
	name := filepath.Join(data, lockName)
	_ = os.Remove(name) // fails while another process holds it
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		held, openErr := os.Open(name)
		if openErr != nil {
			return nil, dataError(name, err)
		}
		defer held.Close()
		return nil, heldBy(data, held)
	}
	_, _ = fmt.Fprintf(file, "%d\n", os.Getpid()) // for people; no program reads it
	return &dirLock{file}, nil
}

func (l *dirLock) release() error {
	err := l.file.Close()
	_ = os.Remove(l.file.Name())
	return err
}
