//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/nofollow"
	"golang.org/x/sys/unix"
)

// fileLock excludes other processes from the file. The kernel releases it when the process ends.
type fileLock struct{ file *os.File }

func acquireLock(path string) (*fileLock, error) {
	name := path + ".lock"
	file, err := nofollow.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) // it is truncated below
	if errors.Is(err, nofollow.ErrLink) {
		return nil, &rota.Error{
			Code: rota.Unavailable, Act: "sqlite: open", Reason: "the lock file " + name + " is a symbolic link, or has a second name (a hard link)",
			Hint: "remove it; the store creates it again",
		}
	}
	if err != nil {
		return nil, &rota.Error{
			Code: rota.Unavailable, Act: "sqlite: open", Reason: "the lock file " + name + " cannot be created", Err: err,
			Hint: "check that the directory exists and that this process can write to it",
		}
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, heldBy(path, file)
		}
		return nil, &rota.Error{
			Code: rota.Unavailable, Act: "sqlite: open", Reason: "the lock file " + name + " cannot be locked", Err: err,
			Hint: "use a local file system that supports flock",
		}
	}
	if err := file.Truncate(0); err == nil {
		_, err = fmt.Fprintf(file, "%d\n", os.Getpid())
		if err == nil {
			return &fileLock{file: file}, nil
		}
	}
	// The process id is only information for people. A full disk must not prevent Open.
	return &fileLock{file: file}, nil
}

func heldBy(path string, file *os.File) *rota.Error {
	holder := "another process"
	if text, err := io.ReadAll(io.LimitReader(file, 32)); err == nil && len(text) > 0 {
		holder = "process " + strings.TrimSpace(string(text))
	}
	return &rota.Error{
		Code: rota.Busy, Act: "sqlite: open", Reason: fmt.Sprintf("%s is held by %s", path, holder),
		Hint: "stop that process, or send requests to it instead of opening its file",
	}
}

// release unlocks before it closes the file. A child process that another goroutine starts at this
// moment has a copy of the descriptor until exec, and would hold the lock until then.
func (l *fileLock) release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
