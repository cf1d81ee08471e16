package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotajobs/rota/store/sqlite"
)

// lockDataDir keeps servers and other programs from a store that is to be replaced. A log that a crash left beside it is
// read back into its file between the two locks: by then no server is there, and whoever opens the store wants the second
// lock.
func lockDataDir(dir, target string) (release func(), err error) {
	releaseDir, err := lockFiles(dir, filepath.Join(dir, "rota.lock"))
	if err != nil {
		return nil, err
	}
	checkpointWAL(target)
	releaseStore, err := lockFiles(dir, target+".lock")
	if err != nil {
		releaseDir()
		return nil, err
	}
	return func() { releaseStore(); releaseDir() }, nil
}

// checkpointWAL reads a log back, if there is one, as the next server would have. What is no database keeps its log, for
// whoever wants to look into it.
func checkpointWAL(target string) {
	if !hasWAL(target) || checkStoreFile(target) != nil {
		return
	}
	store, err := sqlite.OpenWith(target, sqlite.Config{ReadOnly: true, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		_ = store.Close()
	}
}

func hasWAL(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// lockFiles takes the locks that a server would, and gives them back together.
func lockFiles(dir string, paths ...string) (release func(), err error) {
	var held []*os.File
	release = func() {
		for _, file := range held {
			_ = file.Close()
		}
	}
	for _, path := range paths {
		file, err := tryLock(path)
		if err == nil && file == nil {
			holder, _ := os.ReadFile(path)
			err = &exitError{
				code: exitUnavailable, hint: "stop it first, or name another directory with --data",
				err: fmt.Errorf("%s is held by a server (process %s)", dir, firstNonEmpty(strings.TrimSpace(string(holder)), "unknown")),
			}
		}
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, file)
	}
	return release, nil
}

// replace puts the copy in the place of the store, in one step: whatever happens, a store is there, the old one or the
// new. What was there is kept aside under a name that says when.
func (a *app) replace(ctx context.Context, copied, target string) (aside string, err error) {
	if hasWAL(copied) {
		return "", &exitError{code: exitFailed, err: errors.New("the copy is not whole without its log"), hint: "make another backup with rota backup"}
	}
	stamp := ".before-" + a.now().UTC().Format("20060102T150405.000Z")
	for _, suffix := range []string{"-wal", "-shm"} { // of what is no database: they must never stand beside one
		if err := os.Rename(target+suffix, target+stamp+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	if _, err := os.Lstat(target); err == nil {
		aside = target + stamp
		if err := a.keepPrevious(ctx, target, aside); err != nil {
			return "", err
		}
	}
	if err := os.Rename(copied, target); err != nil {
		if aside != "" {
			_ = os.Remove(aside) // the store is where it was
		}
		return "", err
	}
	return aside, syncDir(filepath.Dir(target))
}

// keepPrevious gives a store a second name, or makes a copy where a file can have but one.
func (a *app) keepPrevious(ctx context.Context, target, aside string) error {
	err := os.Link(target, aside)
	if err != nil && !errors.Is(err, os.ErrExist) {
		bar := a.newProgress()
		defer bar.clear()
		err = copyFile(ctx, target, aside, bar)
		if err != nil && !errors.Is(err, os.ErrExist) {
			_ = os.Remove(aside)
		}
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(aside))
}
