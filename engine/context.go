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

// taskOf returns the run that a context belongs to, nil outside of handlers.
func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// Job returns the job that a handler runs, nil outside of handlers. It must not be
// changed.
func Job(ctx context.Context) *rota.Job {
	if t := taskOf(ctx); t != nil {
		return t.job
	}
	return nil
}

// IdempotencyKey is the same for every attempt of one execution. Handlers use it for
// effects that must not be repeated.
func IdempotencyKey(ctx context.Context) string {
	if t := taskOf(ctx); t != nil {
		return t.job.IdempotencyKey()
	}
	return ""
}

// Log returns a logger that writes lines to the log of the run. Outside of handlers
// it is slog.Default.
func Log(ctx context.Context) *slog.Logger {
	if t := taskOf(ctx); t != nil {
		return t.log.logger()
	}
	return slog.Default()
}

// Output returns the log of the run as a writer, for the output of a program. Outside
// of handlers it discards what is written.
func Output(ctx context.Context) io.Writer {
	if t := taskOf(ctx); t != nil {
		return &t.log
	}
	return io.Discard
}

// Progress reports how far the run is, as JSON of at most rota.ProgressMax bytes; see
// Result for what is refused. The engine writes the newest value within half a second and skips those in between.
func Progress(ctx context.Context, v any) error {
	t := taskOf(ctx)
	if t == nil {
		return nil
	}
	text, err := marshal("progress", v, rota.ProgressMax)
	if err != nil {
		return err
	}
	text = t.maskJSON("progress", text, rota.ProgressMax)
	t.mu.Lock()
	t.progress, t.progressUnsent = text, true
	t.mu.Unlock()
	t.pool.heartbeat.progressChanged()
	return nil
}

// Result sets the result that is stored when the run completes, as JSON of at most
// rota.ResultMax bytes. The last call counts. It refuses what JSON readers understand
// differently: see rota.CheckDocument. The handler decides whether the run fails then.
func Result(ctx context.Context, v any) error {
	t := taskOf(ctx)
	if t == nil {
		return nil
	}
	text, err := marshal("result", v, rota.ResultMax)
	if err != nil {
		return err
	}
	text = t.maskJSON("result", text, rota.ResultMax)
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
	case !utf8.Valid(text): // possible with a json.RawMessage
		return nil, rota.Invalidf(field, "is not UTF-8 text")
	case rota.JSONDepth(text) > rota.DepthMax:
		return nil, rota.Invalidf(field, "is nested more than %d deep", rota.DepthMax)
	case len(text) > limit:
		return nil, rota.Invalidf(field, "has %d bytes; at most %d are stored: write a file and name it with engine.Artifact", len(text), limit)
	}
	if err := rota.CheckDocument(field, text, limit); err != nil { // of a json.RawMessage or a json.Number
		return nil, err
	}
	return text, nil
}

// Artifact records the path of a file that the run has created. A run keeps at most
// rota.ArtifactMax paths.
func Artifact(ctx context.Context, path string) error {
	t := taskOf(ctx)
	if t == nil {
		return nil
	}
	if path == "" || len(path) > rota.PathMax {
		return rota.Invalidf("artifact", "a path has %d bytes; allowed are 1 to %d", len(path), rota.PathMax)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.artifacts) >= rota.ArtifactMax {
		return rota.Invalidf("artifact", "the run has %d artifacts already; no more are stored", rota.ArtifactMax)
	}
	t.artifacts = append(t.artifacts, clean(t.secrets.String(path)))
	return nil
}

// RowsAffected sets how many database rows the run has changed.
func RowsAffected(ctx context.Context, n int64) {
	if t := taskOf(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.rowsAffected = &n
	}
}

// ExitCode sets the exit code of the program that the run has executed.
func ExitCode(ctx context.Context, n int) {
	if t := taskOf(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.exitCode = &n
	}
}
