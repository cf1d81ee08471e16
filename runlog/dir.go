package runlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/internal/nofollow"
)

// openFilesMax limits the log files that stay open between two lines. Further logs
// are opened for each line, which is slower but works.
const openFilesMax = 256

// Files stores logs in one file per job, below a directory with one folder per day.
type Files struct {
	dir    string
	config Config

	openFiles atomic.Int64 // files kept open between two lines
	failing   atomic.Bool  // the last write to any log failed, and that was logged
	appends   appendLocks
}

var (
	_ engine.Logs       = (*Files)(nil)
	_ engine.LogFlusher = (*Files)(nil)
	_ engine.LogPruner  = (*Files)(nil)
)

// Dir stores logs as files DAY/JOB.log below a directory, where DAY is the UTC day on which the run
// started. The first line of the first log creates the directory. Other files in it stay untouched.
// One process at a time may use a directory.
func Dir(dir string, config Config) *Files { return &Files{dir: dir, config: config.withDefaults()} }

// logSuffix is the suffix of the name of a log.
const logSuffix = ".log"

// name is the path of the log of a job below the directory. It is derived from the job,
// because a stored path could point anywhere.
func name(job *rota.Job) string {
	started := job.StartedAt
	if job.Run != nil {
		started = job.Run.StartedAt
	}
	return path.Join(started.UTC().Format(time.DateOnly), job.ID.String()+logSuffix)
}

// Path is the path of the log of a job as its run records it: relative to the folder that contains the
// directory.
func (l *Files) Path(job *rota.Job) string { return path.Join(filepath.Base(l.dir), name(job)) }

// Open returns the log of a run. The first line creates the file; if that fails, the
// run continues without a log.
func (l *Files) Open(job *rota.Job) (engine.LogFile, error) { return l.open(job), nil }

func (l *Files) open(job *rota.Job) *logFile {
	return &logFile{logs: l, name: l.file(job), path: l.Path(job), text: text{max: l.config.Max}}
}

// FlushLogs does nothing: each line is in its file at once.
func (l *Files) FlushLogs(context.Context) {}

// Keep writes the logs of runs of remote workers and replaces what the workers sent
// before. A log that cannot be written is lost, and that is logged, as for a
// local run.
func (l *Files) Keep(_ context.Context, texts map[*rota.Job]string) error {
	for job, text := range texts {
		l.keep(job, text)
	}
	return nil
}

func (l *Files) keep(job *rota.Job, text string) {
	file := l.open(job)
	defer file.Close()
	if err := removeFile(file.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.reportWrite(file.name, err)
		return
	}
	_, _ = file.Write([]byte(text))
}

// Has reports whether the directory has a file for the log of a job.
func (l *Files) Has(job *rota.Job) bool {
	_, err := os.Stat(l.file(job))
	return err == nil
}

// ReadLog returns the log of a job at its beginning. A run that has not ended may still append to it.
// A run that wrote nothing has an empty log. NotFound: the text is not known any more.
func (l *Files) ReadLog(_ context.Context, job *rota.Job) (io.ReadSeekCloser, error) {
	if job.Run == nil {
		return nil, noLog(job, "it has not started")
	}
	file, err := openFile(l.file(job), os.O_RDONLY)
	switch {
	case err == nil:
		return file, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &rota.Error{Code: rota.Unavailable, Act: "log of job " + job.ID.String(), Reason: "it cannot be read", Err: cause(err)}
	}
	if err := l.config.missing(job, l.Path(job)); err != nil {
		return nil, err
	}
	return &lateFile{name: l.file(job)}, nil
}

// file is the file system path of a log.
func (l *Files) file(job *rota.Job) string {
	return filepath.Join(l.dir, filepath.FromSlash(name(job)))
}

// acquireOpenFile reserves one of the openFilesMax open files, if one is free.
func (l *Files) acquireOpenFile() bool {
	if l.openFiles.Add(1) <= openFilesMax {
		return true
	}
	l.openFiles.Add(-1)
	return false
}

// reportWrite logs the first failed write, and the first successful one after it.
func (l *Files) reportWrite(file string, err error) {
	switch {
	case err != nil && !l.failing.Swap(true):
		l.config.Logger.Error("run logs cannot be written; the runs continue, and their log lines are lost",
			"file", file, "error", cause(err))
	case err == nil && l.failing.Load() && l.failing.Swap(false):
		l.config.Logger.Info("run logs can be written again")
	}
}

// PruneLogs removes the logs of days that ended longer ago than logs are
// kept. It removes whole days, so the log of a pruned job may stay until then. Each process prunes its own directory,
// whether it leads or not.
func (l *Files) PruneLogs(context.Context, bool) {
	logs, entries, err := l.list()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.config.Logger.Error("the directory of run logs cannot be read; old logs stay", "error", err)
		}
		return
	}
	defer logs.Close()
	last := l.config.Clock().Add(-l.config.Keep)
	for _, entry := range entries {
		began, err := time.Parse(time.DateOnly, entry.Name())
		if err != nil || !entry.IsDir() || began.Add(day).After(last) {
			continue // recent, or not a folder of logs
		}
		removed, err := removeDay(logs, entry.Name())
		if err != nil {
			l.config.Logger.Error("old run logs cannot be removed; trying again later", "day", entry.Name(), "error", err)
		}
		if removed > 0 {
			l.config.Logger.Info("removed old run logs", "day", entry.Name(), "logs", removed)
		}
	}
}

// list opens the directory of the logs and reads it.
func (l *Files) list() (*os.Root, []fs.DirEntry, error) {
	logs, err := nofollow.OpenDir(l.dir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(logs.FS(), ".")
	if err != nil {
		_ = logs.Close()
	}
	return logs, entries, err
}

// removeDay removes the logs in the folder of a day, and the folder if it is then
// empty. Other files stay, because Rota did not create them.
func removeDay(logs *os.Root, day string) (removed int, err error) {
	folder, err := nofollow.OpenDirIn(logs, day)
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	entries, err := fs.ReadDir(folder.FS(), ".")
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !IsName(entry.Name()) {
			continue
		}
		if e := folder.Remove(entry.Name()); e != nil {
			err = e
			continue
		}
		removed++
	}
	if err == nil && removed == len(entries) {
		err = logs.Remove(day)
	}
	return removed, err
}

// IsName reports whether a file name is that of a log.
func IsName(name string) bool {
	text, ok := strings.CutSuffix(name, logSuffix)
	id, err := rota.ParseID(text)
	return ok && err == nil && id.String() == text
}

// cause is the system error without the path, which the message already names.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
