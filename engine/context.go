package engine

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

type taskKey struct{}

// taskOf is the run that a context belongs to, nil if it belongs to none.
func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// Job is the job that a handler runs, nil outside of handlers. It must not be
// changed.
func Job(ctx context.Context) *rota.Job {
	if t := taskOf(ctx); t != nil {
		return t.job
	}
	return nil
}

// IdempotencyKey is the same for every attempt of one execution, for effects
// that must not be repeated.
func IdempotencyKey(ctx context.Context) string {
	if t := taskOf(ctx); t != nil {
		return t.job.IdempotencyKey()
	}
	return ""
}

// Log writes to the log of the run, a line each. Outside of handlers it is
// slog.Default.
func Log(ctx context.Context) *slog.Logger {
	if t := taskOf(ctx); t != nil {
		return t.log.logger()
	}
	return slog.Default()
}

// Output is the log of the run as a file, for what a program prints. Outside of
// handlers it is discarded.
func Output(ctx context.Context) io.Writer {
	if t := taskOf(ctx); t != nil {
		return &t.log
	}
	return io.Discard
}

// Progress notes how far the run is, as JSON of at most rota.ProgressMax bytes.
// It is written down within half a second; what comes faster is left out.
func Progress(ctx context.Context, v any) error {
	t := taskOf(ctx)
	if t == nil {
		return nil
	}
	text, err := marshal("progress", v, rota.ProgressMax)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.progress, t.progressUnsent = text, true
	t.mu.Unlock()
	t.pool.heartbeat.progressChanged()
	return nil
}

// Result sets what the run has to show when it completes, as JSON of at most
// rota.ResultMax bytes. The last one counts.
func Result(ctx context.Context, v any) error {
	t := taskOf(ctx)
	if t == nil {
		return nil
	}
	text, err := marshal("result", v, rota.ResultMax)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result = text
	return nil
}

func marshal(field string, v any, limit int) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	switch {
	case err != nil:
		return nil, &rota.Error{Code: rota.Invalid, Field: field, Reason: "cannot be written as JSON", Err: err}
	case !utf8.Valid(text): // as it may be in a json.RawMessage
		return nil, rota.Invalidf(field, "is not UTF-8 text")
	case rota.JSONDepth(text) > rota.DepthMax:
		return nil, rota.Invalidf(field, "is nested more than %d deep", rota.DepthMax)
	case len(text) > limit:
		return nil, rota.Invalidf(field, "has %d bytes; at most %d are kept: write a file and name it as an artifact", len(text), limit)
	}
	return text, nil
}

// Artifact names a file that the run has made. At most rota.ArtifactMax are
// kept.
func Artifact(ctx context.Context, path string) error {
	t := taskOf(ctx)
	if t == nil {
		return nil
	}
	if path == "" || len(path) > rota.PathMax {
		return rota.Invalidf("artifact", "a path of %d bytes; allowed are 1 to %d", len(path), rota.PathMax)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.artifacts) >= rota.ArtifactMax {
		return rota.Invalidf("artifact", "the run has %d already; no more are kept", rota.ArtifactMax)
	}
	t.artifacts = append(t.artifacts, clean(path))
	return nil
}

// RowsAffected sets how many rows of a database the run has changed.
func RowsAffected(ctx context.Context, n int64) {
	if t := taskOf(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.rowsAffected = &n
	}
}

// ExitCode sets the exit code of what the run has run.
func ExitCode(ctx context.Context, n int) {
	if t := taskOf(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.exitCode = &n
	}
}
