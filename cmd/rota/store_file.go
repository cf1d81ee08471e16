package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rotajobs/rota"
)

// checkStoreFile refuses a file that cannot hold a store, by its first bytes, before anything is done with it.
func checkStoreFile(path string) error {
	if err := checkRegularFile(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return usagef("see that it may be read", "%s", openError(err))
	}
	defer file.Close()
	head := make([]byte, len(sqliteMagic))
	if _, err := io.ReadFull(file, head); err != nil || !bytes.Equal(head, sqliteMagic) {
		return notStoreError(path)
	}
	return nil
}

// sqliteMagic is how every SQLite database begins.
var sqliteMagic = []byte("SQLite format 3\x00")

func checkRegularFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &exitError{code: exitNotFound, err: fmt.Errorf("there is no file %s", path), hint: "see that the path is right"}
	case err != nil:
		return usagef("see that the path is right", "%s", openError(err))
	case !info.Mode().IsRegular():
		return usagef("name the file of a store or of a backup", "%s is not a file", path)
	}
	return nil
}

func notStoreError(path string) error {
	return &exitError{code: exitNotFound, err: fmt.Errorf("%s is not a Rota store", path), hint: "name the file of a store or of a backup"}
}

// storeError is a refusal to open a file that is there: if the store was not found in it, it is none.
func storeError(path string, err error) error {
	if rota.CodeOf(err) == rota.NotFound {
		return notStoreError(path)
	}
	return err
}
