package telemetry_test

import (
	"context"
	"log"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/telemetry"
)

// traced runs each job in the trace of the code that enqueued it.
func traced(ctx context.Context, store rota.Store, reg *engine.Registry) error {
	traces, err := telemetry.Open(ctx, telemetry.Config{Endpoint: "http://127.0.0.1:4318", Service: "shop"})
	if err != nil {
		return err
	}
	defer traces.Close(context.WithoutCancel(ctx)) // sends what is buffered

	reg.Use(traces.Middleware())                                     // a span for each run
	client := rota.New(store, rota.WithTrace(telemetry.Traceparent)) // jobs continue the span that enqueues them
	return engine.New(client, reg, engine.Config{}).Run(ctx)
}

func ExampleOpen() {
	store, err := sqlite.Open("app.db")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := traced(context.Background(), store, engine.NewRegistry()); err != nil {
		log.Println(err)
	}
}
