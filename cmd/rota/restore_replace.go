package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotajobs/rota/node"
	"github.com/rotajobs/rota/store/sqlite"
)

// lockDataDir locks the data directory and the store, so that no other process uses the store while it is replaced.
// Between the two locks it writes the write-ahead log of a crash back into the store: no server runs then, and opening
// the store needs the second lock.
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

// checkpointWAL writes the write-ahead log back into the store, as the next server would. A file that is not a database
// keeps its log for an investigation.
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

// lockFiles locks files as a server does. release unlocks all of them.
func lockFiles(dir string, paths ...string) (release func(), err error) {
	var held []*os.File
	release = func() {
		for _, file := range held {
			_ = file.Close()
		}
	}
	for _, path := range paths {
		file, err := node.TryLock(path)
		if err == nil && file == nil {
			holder, _ := os.ReadFile(path)
			err = failf(exitUnavailable, "stop it first, or name another directory with --data",
				"a server (process %s) uses %s", cmp.Or(strings.TrimSpace(string(holder)), "unknown"), dir)
		}
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, file)
	}
	return release, nil
}

// replace replaces the store by the copy with one rename, so that there is a store at every moment, the old or the new
// one. The old store is kept under a name with the time.
func (a *app) replace(ctx context.Context, copied, target string) (aside string, err error) {
	if hasWAL(copied) {
		return "", &exitError{code: exitFailed, err: errors.New("the copy is incomplete without its write-ahead log"), hint: "create another backup with rota backup"}
	}
	stamp := ".before-" + a.now().UTC().Format("20060102T150405.000Z")
	for _, suffix := range []string{"-wal", "-shm"} { // files of a corrupt store, which SQLite must not apply to the new one
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
			_ = os.Remove(aside) // the old store still has its name
		}
		return "", err
	}
	return aside, syncDir(filepath.Dir(target))
}

// keepPrevious gives the store a second name with a hard link, or copies it on a file system without hard links.
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
