package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rotajobs/rota"
)

// errNoReturn is the error that Logging logs if the wrapped handler did not return.
var errNoReturn = errors.New("the handler did not return: a middleware panicked, or its goroutine ended")

// Logging logs one line at the end of each run: a completed run at level info, a run
// that was stopped at level warn, a run that failed or timed out at level error. A nil
// logger is slog.Default.
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

// classify returns how a run ended as one word, and the log level for it.
func classify(ctx context.Context, err error) (outcome string, level slog.Level) {
	var why error
	completed := err == nil
	if t := taskOf(ctx); t != nil {
		why = context.Cause(t.ctx)
		if c := t.lastCompletion(); c != nil && !c.open() { // its transaction decides
			completed = c.committed()
		}
	}
	if completed {
		return "completed", slog.LevelInfo
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

// oneLine removes the stack from a panic; the log of the run has it.
func oneLine(err error) any {
	var p *panicError
	if errors.As(err, &p) {
		return p.brief()
	}
	return err
}
