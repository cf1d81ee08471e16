package engine_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

const secretValue = "sword fish/42"

type fixedSecrets struct{}

func (fixedSecrets) Secret(_ context.Context, _ *rota.Job, key string) (string, error) {
	if key != "KEY" {
		return "", &rota.Error{Code: rota.NotFound, Reason: "there is no secret " + key}
	}
	return secretValue, nil
}

func (fixedSecrets) Secrets(context.Context, *rota.Job) (map[string]string, error) {
	return map[string]string{"KEY": secretValue}, nil
}

// TestSecretIsMaskedWhereverTheRunWritesIt: a handler writes its secret everywhere; it is in no log, result, progress or
// error, and no middleware sees it.
func TestSecretIsMaskedWhereverTheRunWritesIt(t *testing.T) {
	h := newHarness(t)
	logs := newMemoryLogs()
	var seen []string
	reg := registry(func(ctx context.Context, _ *rota.Job) error {
		value, err := engine.Secret(ctx, "KEY")
		if err != nil || value != secretValue {
			return fmt.Errorf("%q: %w", value, err)
		}
		encoded := base64.StdEncoding.EncodeToString([]byte("u:" + value))
		engine.Log(ctx).Info("got "+value, "header", "Basic "+encoded)
		for _, b := range []byte("out " + value + " " + url.QueryEscape(value) + "\n") {
			_, _ = engine.Output(ctx).Write([]byte{b})
		}
		if err := errors.Join(engine.Result(ctx, map[string]string{"v": value}), engine.Progress(ctx, "at "+value)); err != nil {
			return err
		}
		return fmt.Errorf("login with %s: %w", value, rota.Permanent(errors.New("failed for "+encoded)))
	})
	reg.Use(func(next engine.Handler) engine.Handler {
		return func(ctx context.Context, job *rota.Job) error {
			err := next(ctx, job)
			for e := err; e != nil; e = errors.Unwrap(e) {
				seen = append(seen, e.Error())
			}
			return err
		}
	})
	h.start(reg, engine.Config{Logs: logs, Secrets: fixedSecrets{}})
	id := h.addOne()
	job := h.awaitEnded(id)
	text, _ := logs.text(id)
	all := strings.Join(append(seen, text, job.Run.Error, string(job.Run.Result), string(job.Run.Progress)), "\n")
	for _, form := range []string{"sword", "fish", url.QueryEscape(secretValue), base64.StdEncoding.EncodeToString([]byte("u:" + secretValue))} {
		if strings.Contains(all, form) {
			t.Errorf("%q is in %s", form, all)
		}
	}
	for _, want := range []string{"got ***", "out *** ***\n", "login with ***"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	if job.Run.Error == "" || job.Sequel != rota.SequelDead {
		t.Errorf("error %q, sequel %s: a permanent error must stay one", job.Run.Error, job.Sequel)
	}
}

func TestSecretInPanicIsMasked(t *testing.T) {
	h := newHarness(t)
	logs := newMemoryLogs()
	h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		value, _ := engine.Secret(ctx, "KEY")
		panic("no login with " + value)
	}), engine.Config{Logs: logs, Secrets: fixedSecrets{}})
	id := h.addOne()
	job := h.awaitEnded(id)
	if text, _ := logs.text(id); strings.Contains(text+job.Run.Error, "sword") || !strings.Contains(job.Run.Error, "no login with ***") {
		t.Errorf("%s %s", text, job.Run.Error)
	}
}

func TestSecretOutsideOfHandlersIsRefused(t *testing.T) {
	if _, err := engine.Secret(context.Background(), "KEY"); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("%v", err)
	}
}
