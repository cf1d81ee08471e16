package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// The inner handler has its own type, params and middleware, and runs in the run of the
// outer job.
func TestWithinRunsHandlerInsideOtherRun(t *testing.T) {
	h := newHarness(t)
	var trace callTrace
	reg := engine.NewRegistry()
	reg.Use(trace.middleware("all"))
	reg.Func("inner", rota.TypeSpec{}, func(ctx context.Context, job *rota.Job) error {
		trace.add(job.Type + " " + string(job.Params) + " in " + engine.Job(ctx).Type)
		return engine.Result(ctx, "done")
	}, engine.WithMiddleware(trace.middleware("own")))
	reg.Func("work", rota.TypeSpec{}, func(ctx context.Context, _ *rota.Job) error {
		return reg.Within(ctx, "inner", json.RawMessage(`{"a":1}`))
	})
	h.start(reg, engine.Config{})
	id := h.addOne()
	h.awaitCompleted(id)
	if result := h.job(id).Run.Result; string(result) != `"done"` {
		t.Errorf("the result is %s", result)
	}
	steps := trace.all()
	begun := slices.Index(steps, "all")
	want := []string{"all", "make own", "own", `inner {"a":1} in work`, "/own", "/all"}
	if begun < 0 || !slices.Equal(steps[begun:], want) {
		t.Errorf("%q, want %q at the end", steps, want)
	}
}

func TestWithinChecksParamsAndRecovers(t *testing.T) {
	reg := engine.NewRegistry()
	engine.Builtins(reg)
	reg.Func("panics", rota.TypeSpec{}, func(context.Context, *rota.Job) error { panic("ouch") })
	var coded interface{ Code() string }
	if err := reg.Within(t.Context(), "sleep", json.RawMessage(`{"for": 3}`)); !errors.As(err, &coded) || coded.Code() != "payload" {
		t.Errorf("params that do not fit: %v", err)
	}
	if err := reg.Within(t.Context(), "unknown", nil); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("a type without a handler: %v", err)
	}
	if err := reg.Within(t.Context(), "panics", nil); err == nil || !strings.HasPrefix(err.Error(), "panic: ouch") {
		t.Errorf("a handler that panics: %v", err)
	}
}
