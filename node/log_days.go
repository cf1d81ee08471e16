package node

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
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

// removeOldDays removes the folders of days that ended longer ago than logs are
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
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			l.logger.Error("old logs of runs cannot be removed", "day", entry.Name(), "error", err)
			continue
		}
		l.logger.Info("removed old logs of runs", "day", entry.Name())
	}
}
