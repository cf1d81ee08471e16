package engine

import (
	"log/slog"
	"sync"

	"github.com/rotajobs/rota"
)

// runLog is the log of one run. It is opened at the first line, so that a run
// with nothing to say costs no file. That a log cannot be written is no reason
// to fail a run.
type runLog struct {
	logs       Logs
	job        *rota.Job
	processLog *slog.Logger

	mu     sync.Mutex
	file   LogFile
	slog   *slog.Logger
	closed bool // or not to be had
}

// Write takes all it is given, wherever that goes.
func (l *runLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !l.closed {
		l.open()
	}
	if l.closed {
		return len(text), nil
	}
	if _, err := l.file.Write(text); err != nil {
		l.disable(err)
	}
	return len(text), nil
}

func (l *runLog) open() {
	if l.logs == nil {
		l.closed = true
		return
	}
	file, err := l.logs.Open(l.job)
	if err != nil {
		l.disable(err)
		return
	}
	l.file = file
}

// disable gives the log up, and says so once.
func (l *runLog) disable(err error) {
	l.closed = true
	l.processLog.Warn("the log of a run cannot be written; the run goes on without", "job", l.job.ID, "error", err)
	if l.file != nil {
		_ = l.file.Close() // nothing more can be done about it
	}
}

// logger writes lines into the log, and where no logs are kept into that of the
// process.
func (l *runLog) logger() *slog.Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slog == nil && l.logs == nil {
		l.slog = l.processLog.With("job", l.job.ID, "type", l.job.Type, "attempt", l.job.Attempt)
	}
	if l.slog == nil {
		l.slog = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return l.slog
}

// close ends the log and says where it is, if there is one. What a handler that
// was given up writes later is discarded.
func (l *runLog) close() (path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		path = l.file.Path()
		if !l.closed {
			if err := l.file.Close(); err != nil {
				l.processLog.Warn("the log of a run is cut short", "job", l.job.ID, "error", err)
			}
		}
	}
	l.closed = true
	return path
}
