//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rotajobs/rota"
	"golang.org/x/sys/unix"
)

// fileLock keeps other processes away from the file. The kernel lets go of it
// when the process ends, however it ends.
type fileLock struct{ file *os.File }

func acquireLock(path string) (*fileLock, error) {
	name := path + ".lock"
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &rota.Error{
			Code: rota.Unavailable, Act: "sqlite: open", Reason: "its lock cannot be made", Err: err,
			Hint: "see that the directory exists and that this process may write there",
		}
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, heldBy(path, file)
		}
		return nil, &rota.Error{Code: rota.Unavailable, Act: "sqlite: open", Reason: "its lock cannot be taken", Err: err}
	}
	if err := file.Truncate(0); err == nil {
		_, err = fmt.Fprintf(file, "%d\n", os.Getpid())
		if err == nil {
			return &fileLock{file: file}, nil
		}
	}
	// The pid is for people only; a full disk must not keep the store shut.
	return &fileLock{file: file}, nil
}

func heldBy(path string, file *os.File) *rota.Error {
	holder := "another process"
	if text, err := io.ReadAll(io.LimitReader(file, 32)); err == nil && len(text) > 0 {
		holder = "process " + strings.TrimSpace(string(text))
	}
	return &rota.Error{
		Code: rota.Busy, Act: "sqlite: open", Reason: fmt.Sprintf("%s is held by %s", path, holder),
		Hint: "stop that process, or talk to it instead of opening its file",
	}
}

// release lets go of the lock itself before the file: a child that another
// goroutine starts at this moment has a copy of the descriptor until it is another
// program, and would hold the lock for so long.
func (l *fileLock) release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
