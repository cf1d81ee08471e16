package engine

import (
	"log/slog"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/mask"
)

// runLog is the log of one run. It is opened at the first line, so that a run that
// writes nothing costs no file. A log that cannot be written does not fail the run.
type runLog struct {
	logs       Logs
	job        *rota.Job
	processLog *slog.Logger
	secrets    *mask.Set // masked in what is written

	mu     sync.Mutex
	file   LogFile
	masks  *mask.Writer // in front of file
	slog   *slog.Logger
	closed bool // or could not be opened
}

// Write accepts everything, also when the log cannot be written.
func (l *runLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !l.closed {
		l.open()
	}
	if l.closed {
		return len(text), nil
	}
	if _, err := l.masks.Write(text); err != nil {
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
	l.file, l.masks = file, mask.NewWriter(file, l.secrets)
}

// disable stops writing the log, and logs that once.
func (l *runLog) disable(err error) {
	l.closed = true
	l.processLog.Warn("the log of a run cannot be written; the run continues without it", "job", l.job.ID, "error", err)
	if l.file != nil {
		_ = l.file.Close() // the write error is logged already
	}
}

// logger returns a logger that writes lines into the log of the run, or into that of the
// process if the engine stores no run logs.
func (l *runLog) logger() *slog.Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slog == nil && l.logs == nil {
		l.slog = slog.New(maskHandler{l.processLog.Handler(), l.secrets}).With("job", l.job.ID, "type", l.job.Type, "attempt", l.job.Attempt)
	}
	if l.slog == nil {
		l.slog = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return l.slog
}

// begin opens the log if nothing was written yet, and returns its path, if it has one. The
// end of a run that completes in a transaction is written before its log ends.
func (l *runLog) begin() (path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !l.closed {
		l.open()
	}
	if l.file != nil {
		path = l.file.Path()
	}
	return path
}

// close ends the log and returns its path, if it has one. What an abandoned handler
// writes later is discarded.
func (l *runLog) close() (path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		path = l.file.Path()
		if !l.closed {
			_ = l.masks.Close() // Close of the file reports a full disk too
			if err := l.file.Close(); err != nil {
				l.processLog.Warn("the log of a run may be incomplete", "job", l.job.ID, "error", err)
			}
		}
	}
	l.closed = true
	return path
}
