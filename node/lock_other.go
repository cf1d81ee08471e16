//go:build !unix

package node

import (
	"errors"
	"os"
)

// TryLock creates and opens a lock file, as a server does in its data directory. It returns a nil file if another
// process holds the lock: a file that is open in another process cannot be removed.
func TryLock(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}
