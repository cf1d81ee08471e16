//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links of a path, as the kernel does.
const maxLinks = 40

// Open finds a program and checks that the policy allows it and that nobody but root and the user of this process can replace it. The
// path is absolute, or a name that is found in policy.Search.
//
// The file that was checked is the one that is executed, whatever happens to its path later.
func Open(path string, policy Policy) (*Program, error) {
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	found, err := search(path, policy.Search)
	if err != nil {
		return nil, err
	}
	if err := allowed(found, policy); err != nil {
		return nil, err
	}
	real, info, err := checkWay(found, policy.changeable())
	if err != nil {
		return nil, err
	}
	for _, hidden := range policy.Hidden {
		if within(real, resolve(hidden)) {
			return nil, fmt.Errorf("%s: programs in %s are never executed; move it and allow its new path", path, hidden)
		}
	}
	file, err := openChecked(real, info)
	if err != nil {
		return nil, err
	}
	return &Program{name: path, path: real, file: file}, nil
}

// search returns the absolute path of a program.
func search(path string, dirs []string) (string, error) {
	if strings.ContainsRune(path, 0) || path == "" {
		return "", fmt.Errorf("%q is not the path of a program", path)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if strings.ContainsRune(path, filepath.Separator) {
		return "", fmt.Errorf("%s: the path of a program is absolute; write it from / on", path)
	}
	for _, dir := range dirs {
		full := filepath.Join(dir, path)
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return full, nil
		}
	}
	return "", fmt.Errorf("%s: not found in PATH (%s); write its absolute path: %w", path, strings.Join(dirs, ":"), fs.ErrNotExist)
}

// allowed compares the path with its directory resolved but not its last part: where several programs are links to one file that
// looks at its name, allowing one of them does not allow the others.
func allowed(path string, policy Policy) error {
	path = resolveDir(path)
	for _, entry := range policy.Allow {
		if path == resolveDir(filepath.Clean(entry)) {
			return nil
		}
		if dir := resolve(entry); path != dir && within(path, dir) {
			return nil
		}
	}
	return fmt.Errorf("%s: not in allow; add the program or its directory to allow in the configuration", path)
}

func resolveDir(path string) string {
	return filepath.Join(resolve(filepath.Dir(path)), filepath.Base(path))
}

// checkWay walks to a file as the kernel does, and checks each directory, so that only trusted users can have put the links there, and
// no program.
func checkWay(path string, changeable []string) (real string, info fs.FileInfo, err error) {
	at, rest, links := "/", strings.Split(strings.TrimPrefix(path, "/"), "/"), 0
	if err := checkOwner(at); err != nil {
		return "", nil, err
	}
	for len(rest) > 0 {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		if dir := around(next, changeable); dir != "" {
			return "", nil, fmt.Errorf("%s: programs can change %s, which write contains, and could replace what is executed; move the program", path, dir)
		}
		info, err = os.Lstat(next)
		switch {
		case err != nil:
			return "", nil, notThere(path, err)
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", nil, fmt.Errorf("%s: more than %d symbolic links; write the path that they lead to", path, maxLinks)
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", nil, err
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			rest = slices.Concat(strings.Split(filepath.Clean(strings.TrimPrefix(target, "/")), "/"), rest)
			continue
		}
		if err := checkOwner(next); err != nil {
			return "", nil, err
		}
		at = next
	}
	if info == nil || !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("%s: not a program but %s; name a file that can be executed", path, kind(info))
	}
	if info.Mode()&0o111 == 0 {
		return "", nil, fmt.Errorf("%s: not executable; make it so: chmod +x %s", path, at)
	}
	return at, info, nil
}

func notThere(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: does not exist; install it or correct the path: %w", path, fs.ErrNotExist)
	}
	return fmt.Errorf("%s: cannot be checked: %w", path, err)
}

func kind(info fs.FileInfo) string {
	if info == nil || info.IsDir() {
		return "a directory"
	}
	return "a special file"
}

// checkOwner refuses what another user than root and that of this process can change.
func checkOwner(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat := info.Sys().(*syscall.Stat_t)
	if stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: belongs to user %d, who could replace what is executed; make root its owner: chown root %s", path, stat.Uid, path)
	}
	if writers := info.Mode() & 0o022; writers != 0 && !(writers == 0o020 && onlyRootWrites(path, stat)) {
		return fmt.Errorf("%s: other users can write it (mode %04o) and could replace what is executed; take that away: chmod go-w %s",
			path, info.Mode().Perm(), path)
	}
	return nil
}

// onlyRootWrites says whether the right of the group to write is one of root. With an access control list, it is one of other users.
func onlyRootWrites(path string, stat *syscall.Stat_t) bool {
	return stat.Uid == 0 && stat.Gid == 0 && !hasAccessList(path)
}

// openChecked opens the file and makes sure that it is the one that was checked.
func openChecked(path string, checked fs.FileInfo) (*os.File, error) {
	fd, err := syscall.Open(path, openFlags|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(fd), path)
	info, err := file.Stat()
	if err == nil && (!os.SameFile(info, checked) || info.Mode() != checked.Mode()) {
		err = fmt.Errorf("%s: was replaced while it was checked; try again", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
