// Package nofollow opens files of a data directory without following symbolic links. A user who may write to the directory
// could otherwise make the server write to, truncate or remove files elsewhere.
package nofollow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLink is the error for a file that is a symbolic link, has another name, or is a pipe or device.
var ErrLink = errors.New("it is a symbolic link, has a second name (a hard link), or is not a regular file")

// OpenFile opens a file as os.OpenFile does, but not through a symbolic link, and no file that has a second name. The
// directories of the path may be links.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	file, err := OpenIn(filepath.Dir(path), filepath.Base(path), flag, perm)
	if err != nil {
		return nil, err
	}
	return accept(file, func(info fs.FileInfo) bool {
		n, known := Links(info)
		return !known || n < 2
	})
}

// Dir checks that a path is a directory and not a link to one.
func Dir(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	}
	return nil
}

// regular reports whether a file is a regular one: no pipe or device.
func regular(info fs.FileInfo) bool { return info.Mode().IsRegular() }

// accept returns an open file if it passes a check, and otherwise closes it.
func accept(file *os.File, check func(fs.FileInfo) bool) (*os.File, error) {
	info, err := file.Stat()
	if err == nil && !check(info) {
		err = &fs.PathError{Op: "open", Path: file.Name(), Err: ErrLink}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
