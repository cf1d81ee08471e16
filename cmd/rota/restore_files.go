package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rotajobs/rota/store/sqlite"
)

// attachedFiles are the files of a backup. They are complete in a temporary directory before the first gets its name in
// the data directory.
type attachedFiles struct {
	scratch string
	dir     string   // data directory
	names   []string // paths with slashes
}

// detach moves the files that are attached to the copy of the store into the temporary directory.
func (f *attachedFiles) detach(ctx context.Context, copied string, view *restoreView) error {
	if err := os.Mkdir(f.scratch, 0o700); err != nil {
		return err
	}
	contents, names, err := sqlite.Detach(ctx, copied, f.scratch)
	if err != nil {
		return err
	}
	if contents == nil {
		view.LeftOut = append(view.LeftOut, sqlite.LeftOut{What: "run logs, targets and other files of the data directory", Why: "the backup contains only the store"})
		return nil
	}
	f.names = names
	for _, name := range names {
		if err := f.checkFile(name); err != nil {
			return err
		}
	}
	view.Restored, view.LeftOut = append(view.Restored, contents.Included...), append(view.LeftOut, contents.LeftOut...)
	return nil
}

// runLogName is the path of the log of a run.
var runLogName = regexp.MustCompile(`^logs/[0-9]{4}-[0-9]{2}-[0-9]{2}/[0-9a-f-]{36}\.log$`)

// checkFile refuses what a backup of Rota does not hold. A backup is a file that others may have changed: it must not
// replace the token or the settings, or write through a link in the data directory.
func (f *attachedFiles) checkFile(name string) error {
	from, to := f.paths(name)
	if !runLogName.MatchString(name) {
		if isOwnFile(name) || checkStoreFile(from) != nil {
			return failf(exitFailed, "use a backup that rota backup has written", "the backup has the file %s, which is neither the log of a run nor the database of a target", name)
		}
	}
	for dir := filepath.Dir(to); len(dir) > len(f.dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return failf(exitFailed, "remove the link, or name another directory with --data", "%s is a symbolic link, which a restore does not follow", dir)
		}
	}
	return nil
}

// ownFiles are the files and folders of a data directory that belong to Rota itself.
var ownFiles = []string{
	"rota.db", "rota.db.lock", "rota.lock", "rota.addr", "rota.scratch", "rota.yaml", "admin.token", "admin.scram", "master.key", "audit.key", "audit.head", "logs",
}

// isOwnFile reports whether a path belongs to Rota itself, or to SQLite beside a database.
func isOwnFile(name string) bool {
	first, _, _ := strings.Cut(strings.ToLower(name), "/") // some file systems ignore case
	return slices.Contains(ownFiles, first) || strings.HasPrefix(first, ".restore-") ||
		slices.ContainsFunc([]string{"-wal", "-shm", "-journal"}, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// paths returns where a file is and where it goes.
func (f *attachedFiles) paths(name string) (from, to string) {
	return filepath.Join(f.scratch, filepath.FromSlash(name)), filepath.Join(f.dir, filepath.FromSlash(name))
}

// checkTargets refuses to replace a target without force, unless it has the same content.
func (f *attachedFiles) checkTargets(force bool) error {
	for _, name := range f.names {
		from, to := f.paths(name)
		if isRunLog(name) || force {
			continue
		}
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !sameDatabase(from, to) {
			return failf(exitFailed, "replace it with --force, which keeps the previous one, or name another directory with --data", "the target %s already exists", to)
		}
	}
	return nil
}

// isRunLog reports whether a file of a backup is the log of a run. All others are databases.
func isRunLog(name string) bool { return strings.HasPrefix(name, "logs/") }

// publish moves the files into the data directory. A log that exists stays: it is the same run's, and not older. So does
// a target with the same content, as an interrupted restore leaves it.
func (f *attachedFiles) publish(ctx context.Context, a *app, view *restoreView) error {
	for _, name := range f.names {
		from, to := f.paths(name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		_, err := os.Lstat(to)
		switch exists := err == nil; {
		case exists && (isRunLog(name) || sameDatabase(from, to)):
			continue
		case isRunLog(name):
			err = os.Rename(from, to)
		default:
			aside := ""
			if aside, err = a.replace(ctx, from, to); aside != "" {
				view.AsideFiles = append(view.AsideFiles, aside)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sameDatabase reports whether two databases have the same bytes, and the second one no changes in a log beside it.
func sameDatabase(copied, path string) bool {
	if hasWAL(path) {
		return false
	}
	a, err := os.Open(copied)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := os.Open(path)
	if err != nil {
		return false
	}
	defer b.Close()
	return sameBytes(a, b)
}

func sameBytes(a, b io.Reader) bool {
	first, second := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, first)
		m, otherErr := io.ReadFull(b, second)
		if !bytes.Equal(first[:n], second[:m]) {
			return false
		}
		if err != nil || otherErr != nil {
			return isEnd(err) && isEnd(otherErr)
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
