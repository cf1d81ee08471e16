package engine

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/mask"
)

// Secrets opens the secrets of templates for their jobs. Package secret implements it by its Vault.
type Secrets interface {
	// Secret returns a secret of the template of a job, or NotFound.
	Secret(ctx context.Context, job *rota.Job, key string) (string, error)
	// Secrets returns all secrets of the template of a job by key.
	Secrets(ctx context.Context, job *rota.Job) (map[string]string, error)
}

// forgetter is implemented by Secrets that keep values for each run, as those of remote workers do.
type forgetter interface {
	// Forget is called when a run is over, however it has ended. It must not block.
	Forget(run rota.ID)
}

// Secret returns a secret of the template of the job. From then on its value is masked in the log, the result, the
// progress and the error of the run. An error may be retried if it is Unavailable: this process lacks the master key.
func Secret(ctx context.Context, key string) (string, error) {
	t := taskOf(ctx)
	if t == nil {
		return "", outsideOfHandler()
	}
	opens := t.pool.e.config.Secrets
	if opens == nil {
		return "", &rota.Error{Code: rota.Unavailable, Act: "secret", Reason: "this process opens no secrets", Hint: "set engine.Config.Secrets to a secret.Vault"}
	}
	value, err := opens.Secret(ctx, t.job, key)
	if err != nil {
		return "", err
	}
	t.secrets.Add(value)
	return value, nil
}

// AllSecrets returns all secrets of the template of the job, and masks them as Secret does.
func AllSecrets(ctx context.Context) (map[string]string, error) {
	t := taskOf(ctx)
	if t == nil {
		return nil, outsideOfHandler()
	}
	opens := t.pool.e.config.Secrets
	if opens == nil {
		return nil, nil
	}
	values, err := opens.Secrets(ctx, t.job)
	for _, value := range values {
		t.secrets.Add(value)
	}
	return values, err
}

func outsideOfHandler() error {
	return &rota.Error{Code: rota.Invalid, Act: "secret", Reason: "secrets are for handlers only", Hint: "use the context that the handler was called with"}
}

// maskErrors hides secrets in the error of a handler before middleware sees it, which may send it elsewhere.
func maskErrors(next Handler) Handler {
	return func(ctx context.Context, job *rota.Job) error {
		return taskOf(ctx).masked(next(ctx, job))
	}
}

// Mask returns a text without the secrets that the run has got. The engine masks what it stores by itself; a handler masks a
// text before it cuts it, because a part of a secret is not recognized. For a text that was cut already, cut also removes what
// may be the beginning of a secret at its end.
func Mask(ctx context.Context, text string, cut bool) string {
	t := taskOf(ctx)
	switch {
	case t == nil:
		return text
	case cut:
		return t.secrets.Cut(text)
	}
	return t.secrets.String(text)
}

// MaskJSON is Mask for a document. Its strings, keys included, are masked without their escapes, and so are documents in its strings. A
// secret may be a part of the syntax: what is left may be no document.
func MaskJSON(ctx context.Context, document []byte) []byte {
	t := taskOf(ctx)
	if t == nil {
		return document
	}
	return t.secrets.Bytes(t.secrets.JSON(document))
}

// MaskWriter returns a writer that masks the secrets of the run in what it passes on. A handler uses it for a stream that it cuts at a
// limit, or that it mixes with others, before it writes to Output. It shares the masks of the run. One goroutine may use it at a time.
// Close writes what was held back because it may begin a secret, and does not close the other writer.
func MaskWriter(ctx context.Context, to io.Writer) io.WriteCloser {
	var set *mask.Set
	if t := taskOf(ctx); t != nil {
		set = &t.secrets
	}
	return mask.NewWriter(to, set)
}

// maskJSON hides secrets in a document that was checked.
func (t *task) maskJSON(field string, text json.RawMessage, limit int) json.RawMessage {
	return t.secrets.Document(text, limit, func(shown []byte) error { return rota.CheckDocument(field, shown, limit) })
}

// maskHandler hides the secrets of a run in lines of the process log.
type maskHandler struct {
	slog.Handler
	secrets *mask.Set
}

func (h maskHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.secrets.Empty() {
		return h.Handler.Handle(ctx, r)
	}
	shown := slog.NewRecord(r.Time, r.Level, h.secrets.String(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		shown.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, shown)
}

func (h maskHandler) attr(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		var members []any
		for _, m := range value.Group() {
			members = append(members, h.attr(m))
		}
		return slog.Group(h.secrets.String(a.Key), members...)
	}
	a.Key = h.secrets.String(a.Key)
	text := value.String()
	if hidden := h.secrets.String(text); hidden != text {
		a.Value = slog.StringValue(hidden)
	}
	return a
}

func (h maskHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	shown := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		shown[i] = h.attr(a)
	}
	return maskHandler{h.Handler.WithAttrs(shown), h.secrets}
}

func (h maskHandler) WithGroup(name string) slog.Handler {
	return maskHandler{h.Handler.WithGroup(h.secrets.String(name)), h.secrets}
}
