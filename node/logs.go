package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

// openFilesMax limits the log files that stay open between two lines. Further logs
// are opened for each line, which is slower but works.
const openFilesMax = 256

// runLogs stores what runs log, in one file per job.
type runLogs struct {
	data   string // the data directory
	max    int64
	keep   time.Duration
	clock  func() time.Time
	logger *slog.Logger

	openFiles atomic.Int64 // files kept open between two lines
	failing   atomic.Bool  // the last write to any log failed, and that was logged
}

var (
	_ engine.Logs       = (*runLogs)(nil)
	_ httpapi.LogWriter = (*runLogs)(nil)
)

// logSuffix is the suffix of the name of a log.
const logSuffix = ".log"

// logPath is the path of the log of a job, relative to the data directory. It is
// derived from the job, because a stored path could point anywhere.
func logPath(job *rota.Job) string {
	started := job.StartedAt
	if job.Run != nil {
		started = job.Run.StartedAt
	}
	return path.Join(logsName, started.UTC().Format(time.DateOnly), job.ID.String()+logSuffix)
}

// Open returns the log of a run. The first line creates the file; if that fails, the
// run continues without a log.
func (l *runLogs) Open(job *rota.Job) (engine.LogFile, error) {
	return &logFile{logs: l, path: logPath(job)}, nil
}

// Path is the path of the log of a run of a remote worker.
func (l *runLogs) Path(job *rota.Job) string { return logPath(job) }

// Keep writes the log of a run of a remote worker and replaces what the worker sent
// before. If it cannot be written it is lost, and the server logs that, as for a
// local run.
func (l *runLogs) Keep(job *rota.Job, text string) error {
	file := &logFile{logs: l, path: logPath(job)}
	defer file.Close()
	if err := os.Remove(l.file(file.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.reportWrite(file.path, err)
		return nil
	}
	_, _ = file.Write([]byte(text))
	return nil
}

// logReader reads the logs of runLogs for the API.
type logReader struct{ logs *runLogs }

// Open opens the log of a job at its beginning. A running job may still append to it.
func (r logReader) Open(job *rota.Job) (io.ReadSeekCloser, error) {
	if job.Run == nil {
		return nil, noLog(job, "it has not started")
	}
	file, err := os.Open(r.logs.file(logPath(job)))
	switch {
	case err == nil:
		return file, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &rota.Error{Code: rota.Unavailable, Act: "log of job " + job.ID.String(), Reason: "it cannot be read", Err: cause(err)}
	case r.logs.clock().Sub(job.Run.StartedAt) > r.logs.keep:
		return nil, noLog(job, fmt.Sprintf("logs are kept for %s", formatDuration(r.logs.keep)))
	}
	return nil, noLog(job, "it has written nothing")
}

func noLog(job *rota.Job, reason string) error {
	return &rota.Error{Code: rota.NotFound, Act: "log of job " + job.ID.String(), Reason: "the job has no log: " + reason}
}

// file is the file system path of a log.
func (l *runLogs) file(path string) string { return filepath.Join(l.data, filepath.FromSlash(path)) }

// acquireOpenFile reserves one of the openFilesMax open files, if one is free.
func (l *runLogs) acquireOpenFile() bool {
	if l.openFiles.Add(1) <= openFilesMax {
		return true
	}
	l.openFiles.Add(-1)
	return false
}

// reportWrite logs the first failed write, and the first successful one after it.
func (l *runLogs) reportWrite(path string, err error) {
	switch {
	case err != nil && !l.failing.Swap(true):
		l.logger.Error("run logs cannot be written; the runs continue, and their log lines are lost",
			"file", l.file(path), "error", cause(err))
	case err == nil && l.failing.Load() && l.failing.Swap(false):
		l.logger.Info("run logs can be written again")
	}
}

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
