package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// The handler gets the error at once: otherwise the store would refuse the heartbeat or the end that has the value.
func TestTooDeepJSONIsRefusedToHandler(t *testing.T) {
	h := newHarness(t)
	nested := func(depth int) json.RawMessage {
		return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	}
	h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		for _, test := range []func(context.Context, any) error{engine.Progress, engine.Result} {
			if err := test(ctx, nested(rota.DepthMax+1)); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "nested more than 500 deep") {
				t.Errorf("%v", err)
			}
			if err := test(ctx, nested(rota.DepthMax)); err != nil {
				t.Error(err)
			}
		}
		return nil
	}), engine.Config{})
	if job := h.awaitEnded(h.addOne()); job.Run.Outcome != rota.OutcomeCompleted {
		t.Errorf("%+v", job.Run)
	}
}
