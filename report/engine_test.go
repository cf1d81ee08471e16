package report

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// A job panics twice. The test checks the events at Sentry.
func TestEngineReportsFailedAttempts(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r := newReceiver(t)
	s := reporter(t, r, Config{})
	reg := engine.NewRegistry()
	reg.Func("order", rota.TypeSpec{}, func(_ context.Context, _ *rota.Job) error {
		new(shop).order("seven")
		return nil
	}, engine.WithRetries(1), engine.WithBackoff(time.Millisecond))
	e := engine.New(rota.New(store), reg, engine.Config{Reporter: s})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	<-e.Ready()
	if _, err := rota.Do[*rota.Enqueued](t.Context(), store, &rota.Enqueue{
		Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "order", Params: []byte(`{"card": {"secret": "hunter2"}}`)}},
	}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(r.all("event")) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the reports did not arrive")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	events := r.all("event")
	for i, want := range []map[string]any{
		{"level": "warning", "tags.attempt": "1", "contexts.job.attempt": "1 of 2"},
		{"level": "error", "tags.attempt": "2", "contexts.job.attempt": "2 of 2"},
	} {
		events[i].check(t, want)
		events[i].check(t, map[string]any{
			"exception.0.value": "panic: runtime error: index out of range [5] with length 0", "tags.error_code": "panic",
			"contexts.job.params.card.secret": "[hidden]", "tags.runner": "local",
		})
		frames, _ := events[i].get("exception.0.stacktrace.frames").([]any)
		if len(frames) == 0 || frames[len(frames)-1].(map[string]any)["function"] != "(*shop).order.func1" {
			t.Errorf("the frames are %v", frames)
		}
	}
}
