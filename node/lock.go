package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotajobs/rota"
)

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
