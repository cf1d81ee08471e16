package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rotajobs/rota"
)

// errNoReturn stands for what is not to be had where nothing is returned.
var errNoReturn = errors.New("it did not return: a middleware panicked, or its goroutine ended")

// Logging logs a line at the end of each run: of one that completed as
// information, of one that was stopped as a warning, of one that failed or ran
// out of time as an error. A nil logger is slog.Default.
func Logging(log *slog.Logger) Middleware {
	if log == nil {
		log = slog.Default()
	}
	return func(next Handler) Handler {
		return func(ctx context.Context, job *rota.Job) error {
			began, err := time.Now(), errNoReturn
			defer func() { logEnd(ctx, log, job, time.Since(began), err) }()
			err = next(ctx, job)
			return err
		}
	}
}

func logEnd(ctx context.Context, log *slog.Logger, job *rota.Job, took time.Duration, err error) {
	outcome, level := classify(ctx, err)
	attrs := []slog.Attr{
		slog.String("job", job.ID.String()), slog.String("type", job.Type), slog.Int("attempt", job.Attempt),
		slog.String("outcome", outcome), slog.String("duration", took.Round(time.Microsecond).String()),
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", oneLine(err)))
	}
	log.LogAttrs(ctx, level, "a run has ended", attrs...)
}

// classify says in a word how a run ended, and how bad that is.
func classify(ctx context.Context, err error) (outcome string, level slog.Level) {
	if err == nil {
		return "completed", slog.LevelInfo
	}
	var why error
	if t := taskOf(ctx); t != nil {
		why = context.Cause(t.ctx)
	}
	switch why {
	case errTimeout:
		return "timeout", slog.LevelError
	case errCancelled:
		return "cancelled", slog.LevelWarn
	case errShutdown:
		return "shutdown", slog.LevelWarn
	case errLeaseLost, errLeaseExpired:
		return "lost", slog.LevelWarn
	}
	return "failed", slog.LevelError
}

// oneLine leaves the stack of a panic to the log of the run.
func oneLine(err error) any {
	var p *panicError
	if errors.As(err, &p) {
		return p.brief()
	}
	return err
}
