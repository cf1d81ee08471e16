//go:build !unix

package nofollow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenIn opens a file below a directory. Neither the file nor a directory between the two may be a symbolic link. With
// os.O_CREATE it creates missing directories.
func OpenIn(dir, name string, flag int, perm fs.FileMode) (*os.File, error) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	steps := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
	at := dir
	for _, step := range steps[:len(steps)-1] {
		at = filepath.Join(at, step)
		info, err := os.Lstat(at)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: at, Err: ErrLink}
		}
		if flag&os.O_CREATE != 0 && errors.Is(err, fs.ErrNotExist) {
			err = os.Mkdir(at, 0o700)
		}
		if err != nil {
			return nil, err
		}
	}
	if info, err := os.Lstat(full); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, &fs.PathError{Op: "open", Path: full, Err: ErrLink}
	}
	file, err := os.OpenFile(full, flag, perm)
	if err != nil {
		return nil, err
	}
	return accept(file)
}

// Links returns the number of names of a file, which this system does not report.
func Links(fs.FileInfo) (n uint64, known bool) { return 0, false }
