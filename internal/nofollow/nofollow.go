// Package nofollow opens files and directories of a data directory without following symbolic links, and no files with a
// second name (hard link). A user who may write to the directory could otherwise make the server write to, truncate, remove or
// show files elsewhere.
package nofollow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLink is the error for a file that is a symbolic link, has another name, or is a pipe or device.
var ErrLink = errors.New("it is a symbolic link, has a second name (a hard link), or is not a regular file")

// OpenFile opens a file as OpenIn does. The directories of the path may be links.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return OpenIn(filepath.Dir(path), filepath.Base(path), flag, perm)
}

// OpenDir opens a directory that is not a link to one. What the caller then does in it happens in this directory, also if
// another one replaces it at its path. The directories of the path may be links.
func OpenDir(path string) (*os.Root, error) {
	return sameDir(path, os.OpenRoot, os.Lstat)
}

// OpenDirIn opens a directory inside another one, as OpenDir does.
func OpenDirIn(parent *os.Root, name string) (*os.Root, error) {
	return sameDir(name, parent.OpenRoot, parent.Lstat)
}

// sameDir opens a directory, which follows links, and checks that its path names the directory that it opened.
func sameDir(path string, open func(string) (*os.Root, error), lstat func(string) (fs.FileInfo, error)) (*os.Root, error) {
	named, err := lstat(path)
	switch {
	case err != nil:
		return nil, err
	case named.Mode()&fs.ModeSymlink != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	case !named.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	}
	root, err := open(path)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// accept returns an open file if it is a regular one, no pipe or device, and has no second name. It closes all others.
func accept(file *os.File) (*os.File, error) {
	info, err := file.Stat()
	if err == nil {
		n, known := Links(info)
		if known && n > 1 || !info.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: file.Name(), Err: ErrLink}
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
