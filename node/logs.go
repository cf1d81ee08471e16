package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

// keptOpenMax bounds the files that stay open between two lines. A log beyond
// it is opened for each line, which is slower and goes on.
const keptOpenMax = 256

// runLogs keeps what runs write, one file for each job.
type runLogs struct {
	data   string // the data directory
	max    int64
	keep   time.Duration
	clock  func() time.Time
	logger *slog.Logger

	kept    atomic.Int64 // files that are open between two lines
	failing atomic.Bool  // the last write of any log failed, and was logged
}

var (
	_ engine.Logs       = (*runLogs)(nil)
	_ httpapi.LogWriter = (*runLogs)(nil)
)

// logSuffix ends the name of a log.
const logSuffix = ".log"

// logPath is where the log of a job stands, from the data directory. It follows
// from the job alone: a path that was stored might have come from anywhere.
func logPath(job *rota.Job) string {
	started := job.StartedAt
	if job.Run != nil {
		started = job.Run.StartedAt
	}
	return path.Join(logsName, started.UTC().Format(time.DateOnly), job.ID.String()+logSuffix)
}

// Open makes the log of a run. The file comes with its first line, and if it
// cannot be made the run goes on without.
func (l *runLogs) Open(job *rota.Job) (engine.LogFile, error) {
	return &logFile{logs: l, path: logPath(job)}, nil
}

// Path is where the log of a run that ran elsewhere stands.
func (l *runLogs) Path(job *rota.Job) string { return logPath(job) }

// Keep writes the log of a run that ran elsewhere, in place of what was sent of
// it before. Like that of a run of ours it is lost, and told of, if it cannot be
// written.
func (l *runLogs) Keep(job *rota.Job, text string) error {
	file := &logFile{logs: l, path: logPath(job)}
	defer file.Close()
	if err := os.Remove(l.file(file.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.note(file.path, err)
		return nil
	}
	_, _ = file.Write([]byte(text))
	return nil
}

// logReader reads what runLogs wrote, for the API.
type logReader struct{ logs *runLogs }

// Open opens the log of a job from its beginning. It may still be growing.
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
	return &rota.Error{Code: rota.NotFound, Act: "log of job " + job.ID.String(), Reason: "there is none: " + reason}
}

// file is the name of a log for the system.
func (l *runLogs) file(path string) string { return filepath.Join(l.data, filepath.FromSlash(path)) }

// keepOpen takes one of the places for open files, if one is free.
func (l *runLogs) keepOpen() bool {
	if l.kept.Add(1) <= keptOpenMax {
		return true
	}
	l.kept.Add(-1)
	return false
}

// note tells of a log that cannot be written: once, until one can be again.
func (l *runLogs) note(path string, err error) {
	switch {
	case err != nil && !l.failing.Swap(true):
		l.logger.Error("logs of runs cannot be written; the runs go on, and what they log is lost",
			"file", l.file(path), "error", cause(err))
	case err == nil && l.failing.Load() && l.failing.Swap(false):
		l.logger.Info("logs of runs can be written again")
	}
}
