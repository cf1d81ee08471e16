package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/rotajobs/rota"
)

// checkStoreFile refuses a file that is not an SQLite database, by its first bytes.
func checkStoreFile(path string) error {
	if err := checkRegularFile(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return usagef("check its permissions", "%s", openError(err))
	}
	defer file.Close()
	head := make([]byte, len(sqliteMagic))
	if _, err := io.ReadFull(file, head); err != nil || !bytes.Equal(head, sqliteMagic) {
		return notStoreError(path)
	}
	return nil
}

// sqliteMagic is the header of every SQLite database.
var sqliteMagic = []byte("SQLite format 3\x00")

func checkRegularFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return failf(exitNotFound, "check the path", "there is no file %s", path)
	case err != nil:
		return usagef("check the path", "%s", openError(err))
	case !info.Mode().IsRegular():
		return usagef("name the file of a store or a backup", "%s is not a file", path)
	}
	return nil
}

func notStoreError(path string) error {
	return failf(exitNotFound, "name the file of a store or a backup", "%s is not a Rota store", path)
}

// storeError converts the error of opening a database: one without the tables of Rota is not a store.
func storeError(path string, err error) error {
	if rota.CodeOf(err) == rota.NotFound {
		return notStoreError(path)
	}
	return err
}
