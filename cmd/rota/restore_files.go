package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotajobs/rota/store/sqlite"
)

// restoreFiles writes the files of a backup, which were attached to the copy of the store, into the data directory.
// They are complete in a temporary directory before the first gets its name.
func (a *app) restoreFiles(ctx context.Context, copied, scratch, dir string, force bool, view *restoreView) error {
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return err
	}
	contents, files, err := sqlite.Detach(ctx, copied, scratch)
	if err != nil {
		return err
	}
	if contents == nil {
		view.LeftOut = append(view.LeftOut, sqlite.LeftOut{What: "run logs, targets and other files of the data directory", Why: "the backup contains only the store"})
		return nil
	}
	view.Restored, view.LeftOut = append(view.Restored, contents.Included...), append(view.LeftOut, contents.LeftOut...)
	for _, name := range files {
		if isRunLog(name) || force {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
			return failf(exitFailed, "replace it with --force, which keeps the previous one, or name another directory with --data",
				"the target %s already exists", filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	for _, name := range files {
		if err := a.restoreFile(ctx, filepath.FromSlash(name), scratch, dir, view); err != nil {
			return err
		}
	}
	return nil
}

// isRunLog reports whether a file of a backup is the log of a run. All others are databases.
func isRunLog(name string) bool { return strings.HasPrefix(name, "logs/") }

// restoreFile moves one file into the data directory. A log that exists stays: it is the same run's, and not older.
func (a *app) restoreFile(ctx context.Context, name, scratch, dir string, view *restoreView) error {
	from, to := filepath.Join(scratch, name), filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if !isRunLog(filepath.ToSlash(name)) {
		aside, err := a.replace(ctx, from, to)
		if aside != "" {
			view.AsideFiles = append(view.AsideFiles, aside)
		}
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	return os.Rename(from, to)
}
