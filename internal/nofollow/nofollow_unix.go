//go:build unix

package nofollow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// OpenIn opens a file below a directory. Neither the file nor a directory between the two may be a symbolic link,
// and the file may not have a second name. os.O_TRUNC is not for it: the system truncates before the check. With os.O_CREATE it
// creates missing directories, for this user alone.
func OpenIn(dir, name string, flag int, perm fs.FileMode) (*os.File, error) {
	at, err := retry(func() (int, error) {
		return unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer func() { _ = unix.Close(at) }()
	full := filepath.Join(dir, filepath.FromSlash(name))
	steps := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
	for _, step := range steps[:len(steps)-1] {
		next, err := openDir(at, step, flag&os.O_CREATE != 0)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: full, Err: asLink(err)}
		}
		_ = unix.Close(at)
		at = next
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(at, steps[len(steps)-1], flag|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, uint32(perm.Perm()))
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: asLink(err)}
	}
	return accept(os.NewFile(uintptr(fd), full))
}

// openDir opens a directory inside another one, and creates it if it is missing and create is set.
func openDir(at int, name string, create bool) (int, error) {
	open := func() (int, error) {
		return retry(func() (int, error) {
			return unix.Openat(at, name, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		})
	}
	fd, err := open()
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := unix.Mkdirat(at, name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return -1, err
		}
		fd, err = open()
	}
	if errors.Is(err, unix.ENOTDIR) { // Linux reports a link to a directory so
		var info unix.Stat_t
		if unix.Fstatat(at, name, &info, unix.AT_SYMLINK_NOFOLLOW) == nil && info.Mode&unix.S_IFMT == unix.S_IFLNK {
			err = unix.ELOOP
		}
	}
	return fd, err
}

// retry repeats a system call that a signal interrupted.
func retry(open func() (int, error)) (fd int, err error) {
	for {
		if fd, err = open(); !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// asLink replaces the errors of O_NOFOLLOW: ELOOP, on FreeBSD EMLINK.
func asLink(err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return ErrLink
	}
	return err
}

// Links returns the number of names of a file.
func Links(info fs.FileInfo) (n uint64, known bool) {
	if stat, is := info.Sys().(*syscall.Stat_t); is {
		return uint64(stat.Nlink), true
	}
	return 0, false
}
