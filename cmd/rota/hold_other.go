//go:build !unix

package main

import (
	"errors"
	"os"
)

// hold takes a lock file as a server does, so that none starts meanwhile. A nil file says that somebody else has it: it
// cannot be removed while a process holds it open.
func hold(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}
