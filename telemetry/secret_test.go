package telemetry_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/telemetry"
)

type swordfish struct{}

func (swordfish) Secret(context.Context, *rota.Job, string) (string, error) { return "swordfish", nil }

func (swordfish) Secrets(context.Context, *rota.Job) (map[string]string, error) { return nil, nil }

// refusal has a secret in its code alone.
type refusal struct{ code string }

func (refusal) Error() string  { return "the login failed" }
func (r refusal) Code() string { return r.code }

// TestSpanHasNoSecret runs jobs whose errors have a secret in the code, in the text and in a panic.
func TestSpanHasNoSecret(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	recorder := tracetest.NewSpanRecorder()
	types := engine.NewRegistry()
	types.Use(telemetry.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))).Middleware())
	types.Func("login", rota.TypeSpec{}, func(ctx context.Context, job *rota.Job) error {
		value, err := engine.Secret(ctx, "KEY")
		switch {
		case err != nil:
			return err
		case string(job.Params) == `{"do":"panic"}`:
			panic("no login with " + value)
		case string(job.Params) == `{"do":"code"}`:
			return refusal{"login_" + value}
		}
		return fmt.Errorf("no login with %s", value)
	})
	e := engine.New(rota.New(store), types, engine.Config{Secrets: swordfish{}})
	runAll(t, e.Run)
	<-e.Ready()
	for _, do := range []string{"panic", "code", "text"} {
		c := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "login", Params: []byte(`{"do":"` + do + `"}`), MaxRetries: new(0)}}}
		if _, err := rota.Do[*rota.Enqueued](t.Context(), store, c); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); len(recorder.Ended()) < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d spans", len(recorder.Ended()))
		}
	}
	var shown strings.Builder
	for _, span := range recorder.Ended() {
		fmt.Fprintln(&shown, span.Status(), span.Attributes())
		for _, event := range span.Events() {
			fmt.Fprintln(&shown, event.Attributes)
		}
	}
	if text := shown.String(); strings.Contains(text, "swordfish") || strings.Count(text, "login_***") == 0 || strings.Count(text, "no login with ***") == 0 {
		t.Error(text)
	}
}
