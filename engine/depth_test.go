package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// TestWhatNestsTooDeeplyIsRefusedToTheHandler at once: a heartbeat or an end that carried it would be refused instead.
func TestWhatNestsTooDeeplyIsRefusedToTheHandler(t *testing.T) {
	w := newWorld(t)
	nested := func(depth int) json.RawMessage {
		return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	}
	w.start(registry(func(ctx context.Context, _ *rota.Job) error {
		for _, tell := range []func(context.Context, any) error{engine.Progress, engine.Result} {
			if err := tell(ctx, nested(rota.DepthMax+1)); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "nested more than 500 deep") {
				t.Errorf("%v", err)
			}
			if err := tell(ctx, nested(rota.DepthMax)); err != nil {
				t.Error(err)
			}
		}
		return nil
	}), engine.Config{})
	if job := w.ended(w.addOne()); job.Run.Outcome != rota.OutcomeCompleted {
		t.Errorf("%+v", job.Run)
	}
}
