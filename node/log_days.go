package node

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// cleanupEvery is the interval between two searches for old logs.
const cleanupEvery = time.Hour

// run removes old logs, at the start and every hour.
func (l *runLogs) run(ctx context.Context) {
	tick := time.NewTicker(cleanupEvery)
	defer tick.Stop()
	for {
		l.removeOldDays()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// removeOldDays removes the logs of days that ended longer ago than logs are
// kept. It removes whole days, so the log of a pruned job may stay until then.
func (l *runLogs) removeOldDays() {
	dir := filepath.Join(l.data, logsName)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.logger.Error("the directory of run logs cannot be read; old logs stay", "error", err)
	}
	last := l.clock().Add(-l.keep)
	for _, entry := range entries {
		began, err := time.Parse(time.DateOnly, entry.Name())
		if err != nil || !entry.IsDir() || began.Add(day).After(last) {
			continue // recent, or not a folder of logs
		}
		removed, err := removeDay(filepath.Join(dir, entry.Name()))
		if err != nil {
			l.logger.Error("old run logs cannot be removed; trying again in an hour", "day", entry.Name(), "error", err)
		}
		if removed > 0 {
			l.logger.Info("removed old run logs", "day", entry.Name(), "logs", removed)
		}
	}
}

// removeDay removes the logs in the folder of a day, and the folder if it is then
// empty. Other files stay, because Rota did not create them.
func removeDay(dir string) (removed int, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !isLogName(entry.Name()) {
			continue
		}
		if e := os.Remove(filepath.Join(dir, entry.Name())); e != nil {
			err = e
			continue
		}
		removed++
	}
	if err == nil && removed == len(entries) {
		err = os.Remove(dir)
	}
	return removed, err
}

// isLogName reports whether logPath could have produced the name.
func isLogName(name string) bool {
	text, ok := strings.CutSuffix(name, logSuffix)
	id, err := rota.ParseID(text)
	return ok && err == nil && id.String() == text
}
