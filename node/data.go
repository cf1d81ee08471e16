package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/nofollow"
)

// Names of the files and folders in a data directory.
const (
	lockName    = "rota.lock"
	addrName    = "rota.addr"
	tokenName   = "admin.token"
	logsName    = "logs"
	scratchName = "rota.scratch"
)

// backupPrefix starts the names of all files that Rota creates in the scratch directory.
const backupPrefix = "rota-backup-"

// openData creates the data directory, accessible only to its owner.
func openData(dir string, logger *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dataError(dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return dataError(dir, err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		logger.Warn("other users of this machine may read the data directory; restrict it with chmod 700",
			"dir", dir, "mode", info.Mode().Perm().String())
	}
	return nil
}

// emptyScratch creates the directory for temporary files and removes those that an
// earlier process left. It removes nothing else, because --data may name a
// directory that holds files of other programs. The caller holds the lock.
func emptyScratch(data string) (string, error) {
	dir := filepath.Join(data, scratchName)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", dataError(dir, err)
	}
	root, err := nofollow.OpenDir(dir)
	if err != nil {
		return "", dataError(dir, err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return "", dataError(dir, err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), backupPrefix) {
			continue
		}
		if err := root.RemoveAll(entry.Name()); err != nil {
			return "", dataError(dir, err)
		}
	}
	return dir, nil
}

// checkLogs refuses a directory of run logs, or a folder of a day in it, that is a symbolic link: the server would lose all
// log lines.
func checkLogs(data string) error {
	dir := filepath.Join(data, logsName)
	root, err := nofollow.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first line of a log creates it
	}
	if err != nil {
		return dataError(dir, err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return dataError(dir, err)
	}
	for _, entry := range entries {
		if _, err := time.Parse(time.DateOnly, entry.Name()); err == nil && entry.Type()&fs.ModeSymlink != 0 {
			return dataError(filepath.Join(dir, entry.Name()), nofollow.ErrLink)
		}
	}
	return nil
}

// dataError describes why the data directory cannot be used.
func dataError(path string, err error) error {
	fault := &rota.Error{Code: rota.Unavailable, Act: path, Hint: "choose a directory that this process may write with --data DIR"}
	switch {
	case errors.Is(err, nofollow.ErrLink):
		fault.Reason, fault.Hint = "it is a symbolic link, or has a second name (a hard link), which the server does not follow", "remove the link; the server creates the file or directory itself"
	case errors.Is(err, fs.ErrPermission):
		fault.Reason = "this process may not write there"
	case errors.Is(err, syscall.EROFS):
		fault.Reason = "the file system is read-only"
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		fault.Reason, fault.Hint = "the disk is full", "free some space and start again; everything the server acknowledged is safe"
	case errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist):
		fault.Reason = "a part of its path is not a directory"
	default:
		fault.Reason, fault.Err = "the directory cannot be used", cause(err)
	}
	return fault
}

// cause is the system error without the path, which the message already names.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// writeFile replaces a file atomically: a reader sees either the old text or the
// new one, also after a crash.
func writeFile(path string, text []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// dirLock keeps a second server off a data directory.
type dirLock struct{ file *os.File }

func lockData(data string) (*dirLock, error) {
	name := filepath.Join(data, lockName)
	file, err := TryLock(name)
	switch {
	case err != nil:
		return nil, dataError(name, err)
	case file == nil:
		return nil, heldBy(data, name)
	}
	// The process id only informs people: failing to write it, as on a full disk, must not stop the server.
	if err := file.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(file, "%d\n", os.Getpid())
	}
	return &dirLock{file}, nil
}

// release keeps the file but removes the process id: a person might send that
// process a signal, and the system may have given the id to another one.
func (l *dirLock) release() error {
	_ = l.file.Truncate(0)
	return l.file.Close()
}

// heldBy is the error for a data directory that another process holds.
func heldBy(data, lock string) error {
	holder := "another server"
	if text, err := os.ReadFile(lock); err == nil && len(text) > 0 {
		holder = "the server with process id " + strings.TrimSpace(string(text))
	}
	return &rota.Error{
		Code: rota.Busy, Act: "data directory " + data, Reason: fmt.Sprintf("it is held by %s", holder),
		Hint: "stop that server, or choose another directory with --data DIR",
	}
}
