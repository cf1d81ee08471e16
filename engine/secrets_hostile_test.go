package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// runWithSecret runs a handler that has got the secret.
func runWithSecret(t *testing.T, value string, run func(ctx context.Context, value string) error) *rota.Job {
	t.Helper()
	h := newHarness(t)
	reg := registry(func(ctx context.Context, _ *rota.Job) error {
		value, err := engine.Secret(ctx, "KEY")
		if err != nil {
			return err
		}
		return run(ctx, value)
	})
	h.start(reg, engine.Config{Logs: newMemoryLogs(), Secrets: oneSecret(value)})
	return h.awaitEnded(h.addOne())
}

type oneSecret string

func (s oneSecret) Secret(context.Context, *rota.Job, string) (string, error) { return string(s), nil }

func (s oneSecret) Secrets(context.Context, *rota.Job) (map[string]string, error) {
	return map[string]string{"KEY": string(s)}, nil
}

// TestMaskedDocumentStaysADocument: a secret may be a number in a result, or a piece of its syntax.
func TestMaskedDocumentStaysADocument(t *testing.T) {
	for value, result := range map[string]string{
		"12345678": `{"pin": 12345678}`, `":{"a`: `{"b":{"a":1}}`, "null": `{"a":null}`, "nsecret": `{"a":"\nsecret"}`, "aaaa": `{"aaaa":1,"aaaab":2}`,
	} {
		t.Run(value, func(t *testing.T) {
			job := runWithSecret(t, value, func(ctx context.Context, _ string) error {
				return errors.Join(engine.Progress(ctx, json.RawMessage(result)), engine.Result(ctx, json.RawMessage(result)))
			})
			shown := string(job.Run.Result)
			if job.Run.Outcome != rota.OutcomeCompleted || !json.Valid(job.Run.Result) || !strings.Contains(shown, "***") || strings.Contains(shown, value) {
				t.Errorf("%q in %s: %s %s, the result is %s", value, result, job.Run.Outcome, job.Run.Error, shown)
			}
		})
	}
}

// loudError shows the secret in ways that its text does not.
type loudError struct{ value string }

func (e loudError) Error() string { panic("no text for " + e.value) }
func (e loudError) Code() string  { return "login_" + e.value }

type codedError struct{ value string }

func (e codedError) Error() string { return "refused" }
func (e codedError) Code() string  { return "login_" + e.value }

func TestSecretInMethodsOfAnErrorIsMasked(t *testing.T) {
	t.Run("text", func(t *testing.T) {
		job := runWithSecret(t, secretValue, func(_ context.Context, value string) error { return loudError{value} })
		if shown := job.Run.Error + job.Run.ErrorCode; strings.Contains(shown, "sword") || !strings.Contains(shown, "no text for ***") {
			t.Errorf("%s", shown)
		}
	})
	t.Run("code", func(t *testing.T) {
		job := runWithSecret(t, secretValue, func(_ context.Context, value string) error { return codedError{value} })
		if job.Run.ErrorCode != "login_***" {
			t.Errorf("%q", job.Run.ErrorCode)
		}
	})
}

// TestMaskWriterSharesTheSecretsOfTheRun: it masks also what the run gets after the writer was created.
func TestMaskWriterSharesTheSecretsOfTheRun(t *testing.T) {
	var out strings.Builder
	h := newHarness(t)
	h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		w := engine.MaskWriter(ctx, &out)
		_, err := engine.Secret(ctx, "KEY")
		for _, b := range []byte("the " + secretValue + " end") {
			_, failed := w.Write([]byte{b})
			err = errors.Join(err, failed)
		}
		return errors.Join(err, w.Close())
	}), engine.Config{Secrets: oneSecret(secretValue)})
	if job := h.awaitEnded(h.addOne()); job.Run.Error != "" || out.String() != "the *** end" {
		t.Errorf("%q, %s", out.String(), job.Run.Error)
	}
	outside := engine.MaskWriter(context.Background(), &out)
	if _, err := outside.Write([]byte(secretValue)); err != nil || outside.Close() != nil {
		t.Errorf("outside of a handler: %v", err)
	}
}

// TestEscapedSecretInADocumentIsMasked: servers escape what JSON does not require, and put JSON into texts of JSON.
func TestEscapedSecretInADocumentIsMasked(t *testing.T) {
	const value = `p=a+b'ä"<&>/\x`
	quote := func(text string) string {
		quoted, _ := json.Marshal(text)
		return string(quoted)
	}
	everything := func(format string) (escaped string) {
		for _, r := range value {
			escaped += fmt.Sprintf(format, r)
		}
		return escaped
	}
	lower, upper := everything(`\u%04x`), everything(`\u%04X`)
	minimal := `p\u003da\u002Bb\u0027\u00E4\"\u003C\u0026\u003E\/\\x`
	for name, document := range map[string]string{
		"lower case": `{"a":"` + lower + `"}`, "upper case": `{"a":"` + upper + `"}`, ".NET": `{"a":"` + minimal + `"}`, "key": `{"` + upper + `":1}`,
		"JSON in JSON": quote(`{"a":` + quote(value) + `}`), "3 levels": quote(quote(quote(`{"a":` + quote(value) + `}`))),
		"escapes in JSON in JSON": `[` + quote(`{"`+minimal+`":["`+lower+`"]}`) + `]`,
		"HTML":                    quote("<p title='p=a+b&#x27;ä&quot;&lt;&amp;&gt;&#x2F;\\x'>"),
	} {
		t.Run(name, func(t *testing.T) {
			job := runWithSecret(t, value, func(ctx context.Context, _ string) error {
				return errors.Join(engine.Progress(ctx, json.RawMessage(document)), engine.Result(ctx, json.RawMessage(document)))
			})
			for _, shown := range []string{string(job.Run.Result), string(job.Run.Progress)} {
				if !json.Valid([]byte(shown)) || !strings.Contains(shown, "***") || len(shown) > 60 {
					t.Errorf("%s is %s (%s)", document, shown, job.Run.Error)
				}
				if strings.Contains(strings.ToLower(shown), "003d") || strings.Contains(shown, "p=") {
					t.Errorf("%s is %s", document, shown)
				}
			}
		})
	}
}

// quietError shows the secret in a cause that its own text does not contain.
type quietError struct{ cause error }

func (quietError) Error() string   { return "the login failed" }
func (e quietError) Unwrap() error { return e.cause }

// TestMiddlewareGetsNoSecretOfAnError: the engine's own Logging logs the error of a handler, and other middleware its code and causes.
func TestMiddlewareGetsNoSecretOfAnError(t *testing.T) {
	at := time.Now().Add(time.Hour)
	for name, run := range map[string]func(value string) error{
		"text":                func(value string) error { return errors.New("no login with " + value) },
		"code":                func(value string) error { return rota.Permanent(codedError{value}) },
		"cause":               func(value string) error { return rota.RetryAt(at, quietError{errors.New(value)}) },
		"join":                func(value string) error { return errors.Join(context.Canceled, quietError{codedError{value}}) },
		"panic":               func(value string) error { panic("no login with " + value) },
		"panic with an error": func(value string) error { panic(loudError{value}) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			reg := registry(func(ctx context.Context, _ *rota.Job) error {
				value, _ := engine.Secret(ctx, "KEY")
				return run(value)
			})
			var log lockedBuffer
			var got error
			reg.Use(engine.Logging(slog.New(slog.NewJSONHandler(&log, nil))), func(next engine.Handler) engine.Handler {
				return func(ctx context.Context, job *rota.Job) error {
					got = next(ctx, job)
					return got
				}
			})
			h.start(reg, engine.Config{Secrets: oneSecret(secretValue)})
			job := h.awaitEnded(h.addOne())
			var coded interface{ Code() string }
			shown := log.String() + fmt.Sprintf("%+v %s %s", got, job.Run.Error, job.Run.ErrorCode)
			if errors.As(got, &coded) {
				shown += coded.Code()
			}
			if original := new(codedError); errors.As(got, original) {
				t.Errorf("the original is %+v", original)
			}
			if strings.Contains(shown, "sword") || strings.Contains(shown, "fish") {
				t.Errorf("%s", shown)
			}
			if retryAt, is := rota.RetryTime(got); is != (name == "cause") || is && !retryAt.Equal(at) {
				t.Errorf("retry at %v", retryAt)
			}
			if rota.IsPermanent(got) != (name == "code") || errors.Is(got, context.Canceled) != (name == "join") {
				t.Errorf("%v", got)
			}
			if strings.HasPrefix(name, "panic") && (job.Run.ErrorCode != "panic" || strings.Contains(log.String(), "goroutine")) {
				t.Errorf("a panic has the code %q, and is logged as %s", job.Run.ErrorCode, log.String())
			}
		})
	}
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestLongErrorIsMaskedBeforeItIsCut: the limit of an error must not cut a secret, which would not be recognized then.
func TestLongErrorIsMaskedBeforeItIsCut(t *testing.T) {
	job := runWithSecret(t, secretValue, func(_ context.Context, value string) error {
		return errors.New(strings.Repeat("x", rota.ErrorMax-len(value)/2) + value)
	})
	if len(job.Run.Error) < rota.ErrorMax/2 || strings.Contains(job.Run.Error, "sw") {
		t.Errorf("the error ends with %q", job.Run.Error[max(0, len(job.Run.Error)-40):])
	}
}

// TestMaskOfATextThatIsCut: handlers mask a text before they cut it.
func TestMaskOfATextThatIsCut(t *testing.T) {
	var whole, cut string
	runWithSecret(t, secretValue, func(ctx context.Context, value string) error {
		whole, cut = engine.Mask(ctx, "s "+value+" s", false), engine.Mask(ctx, value+" s", true)
		return nil
	})
	if whole != "s *** s" || cut != "*** " {
		t.Errorf("%q %q", whole, cut)
	}
	if got := engine.Mask(context.Background(), secretValue, true); got != secretValue {
		t.Errorf("outside of a handler: %q", got)
	}
}
