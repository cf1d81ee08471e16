package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rotajobs/rota"
)

// isStore refuses a file that cannot hold a store, by its first bytes, before anything is done with it.
func isStore(path string) error {
	if err := isFile(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return usagef("see that it may be read", "%s", openingError(err))
	}
	defer file.Close()
	head := make([]byte, len(databaseMark))
	if _, err := io.ReadFull(file, head); err != nil || !bytes.Equal(head, databaseMark) {
		return noStore(path)
	}
	return nil
}

// databaseMark is how every SQLite database begins.
var databaseMark = []byte("SQLite format 3\x00")

func isFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &exitError{code: exitNotFound, err: fmt.Errorf("there is no file %s", path), hint: "see that the path is right"}
	case err != nil:
		return usagef("see that the path is right", "%s", openingError(err))
	case !info.Mode().IsRegular():
		return usagef("name the file of a store or of a backup", "%s is not a file", path)
	}
	return nil
}

func noStore(path string) error {
	return &exitError{code: exitNotFound, err: fmt.Errorf("%s is not a Rota store", path), hint: "name the file of a store or of a backup"}
}

// storeError is a refusal to open a file that is there: if the store was not found in it, it is none.
func storeError(path string, err error) error {
	if rota.CodeOf(err) == rota.NotFound {
		return noStore(path)
	}
	return err
}
