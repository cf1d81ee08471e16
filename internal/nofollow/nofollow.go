// Package nofollow opens files of a data directory without following symbolic links. A user who may write to the directory
// could otherwise make the server write to, truncate or remove files elsewhere.
package nofollow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLink is the error for a file that is a symbolic link or has another name.
var ErrLink = errors.New("it is a symbolic link or has a second name (a hard link)")

// OpenFile opens a file as os.OpenFile does, but not through a symbolic link, and no file that has a second name. The
// directories of the path may be links.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return OpenIn(filepath.Dir(path), filepath.Base(path), flag, perm)
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

// single returns the file, or an error if it is not a regular file with one name.
func single(file *os.File) (*os.File, error) {
	info, err := file.Stat()
	if err == nil && !info.IsDir() {
		if n, known := Links(info); known && n > 1 || info.Mode().Type() != 0 {
			err = &fs.PathError{Op: "open", Path: file.Name(), Err: ErrLink}
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
