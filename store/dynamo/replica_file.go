package dynamo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/sqlite"
)

// The files beside that of the replica.
const (
	openSuffix = ".open" // exists while the replica is open, and after a process that did not close it
	copySuffix = ".copy" // a copy that is written into the table
	fillSuffix = ".fill" // a copy that is read from the table
)

// ReplicaFiles returns the names of the files that a store keeps in its directory, besides those of SQLite.
func ReplicaFiles() []string {
	return []string{ReplicaName, ReplicaName + openSuffix, ReplicaName + copySuffix, ReplicaName + fillSuffix}
}

func (l *commandLog) replicaConfig() sqlite.Config {
	return sqlite.Config{Clock: l.readClock, Logger: l.logger, CatchUp: logstore.CatchUp(l.CatchUp), Track: l.options.Layout && !l.readOnly}
}

// openReplica opens the replica. It removes one whose file is damaged: the table has its rows.
func (l *commandLog) openReplica(ctx context.Context, path string) error {
	l.path = path
	err := l.openChecked(ctx)
	if rota.CodeOf(err) == rota.Internal {
		l.logger.Warn("the replica is damaged and is filled again from the table", "file", filepath.Base(path), "error", err)
		if err = removeReplica(path); err == nil {
			err = l.openChecked(ctx)
		}
	}
	if err != nil {
		return err
	}
	removeScratch(path, copySuffix)
	removeScratch(path, fillSuffix)
	return l.markOpen()
}

// openChecked opens the replica and reads all its pages. SQLite would notice damage only when it needs a page, and
// the rows of a replica decide commands.
func (l *commandLog) openChecked(ctx context.Context) (err error) {
	isNew, lost := !exists(l.path), isWALLost(l.path)
	if l.replica, err = sqlite.OpenReplica(l.path, l.replicaConfig()); err != nil {
		return err
	}
	if isNew {
		return nil
	}
	if _, err = sqlite.CheckReplica(ctx, l.path); err == nil && lost {
		err = rota.Errorf(rota.Internal, "dynamodb: open", "the replica was not closed, and its file -wal is missing")
	}
	if err != nil {
		_ = l.replica.Close()
	}
	return err
}

// isWALLost reports whether SQLite's log is missing after a process that did not close the replica. The file may
// have some pages of a transaction and lack others then, which SQLite cannot notice.
func isWALLost(path string) bool {
	return exists(path) && exists(path+openSuffix) && !exists(path+"-wal")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (l *commandLog) markOpen() error {
	err := os.WriteFile(l.path+openSuffix, nil, 0o600)
	if err != nil {
		_ = l.replica.Close()
		return errScratch("open", err)
	}
	return nil
}

// markClosed is called after the replica was closed without an error.
func (l *commandLog) markClosed() { _ = os.Remove(l.path + openSuffix) }

func removeReplica(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &rota.Error{Code: rota.Internal, Act: "dynamodb: open", Reason: "the damaged replica cannot be removed", Err: err}
		}
	}
	return nil
}

// removeScratch removes a copy, and what SQLite or a process that was killed has left beside it.
func removeScratch(path, suffix string) {
	dir, name := filepath.Split(path + suffix)
	entries, _ := os.ReadDir(filepath.Clean(dir))
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), name) {
			_ = os.Remove(dir + entry.Name())
		}
	}
}

// errScratch is the error of a file beside the replica.
func errScratch(act string, err error) error {
	return &rota.Error{
		Code: rota.Unavailable, Act: "dynamodb: " + act, Reason: "a file in the data directory cannot be written", Err: err,
		Hint: "check its permissions and the free space of the disk; a snapshot needs as much as the replica",
	}
}
