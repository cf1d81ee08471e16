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

// tidyEvery is how often old days are looked for.
const tidyEvery = time.Hour

// run removes the logs of days that are past, now and every hour.
func (l *runLogs) run(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
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
// kept. Whole days go, so the log of a job that was pruned may stay until then.
func (l *runLogs) removeOldDays() {
	dir := filepath.Join(l.data, logsName)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.logger.Error("old logs of runs cannot be looked for", "error", err)
	}
	last := l.clock().Add(-l.keep)
	for _, entry := range entries {
		began, err := time.Parse(time.DateOnly, entry.Name())
		if err != nil || !entry.IsDir() || began.Add(day).After(last) {
			continue // young, or not ours
		}
		removed, err := removeDay(filepath.Join(dir, entry.Name()))
		if err != nil {
			l.logger.Error("old logs of runs cannot be removed", "day", entry.Name(), "error", err)
		}
		if removed > 0 {
			l.logger.Info("removed old logs of runs", "day", entry.Name(), "logs", removed)
		}
	}
}

// removeDay removes the logs in the folder of a day, and the folder if nothing
// is left in it: what else lies there is somebody's, whose folder happens to
// have that name.
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

// isLogName recognises what logPath makes.
func isLogName(name string) bool {
	text, ok := strings.CutSuffix(name, logSuffix)
	id, err := rota.ParseID(text)
	return ok && err == nil && id.String() == text
}
