//go:build !unix

package main

import (
	"errors"
	"os"
)

// tryLock creates and opens a lock file as a server does, so that no server starts meanwhile. It returns a nil file if
// another process holds the lock: a file that is open in another process cannot be removed.
func tryLock(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}
