// Package telemetry traces jobs with OpenTelemetry, from the request that enqueues a
// job to each of its runs, in this process or another.
//
//	traces, err := telemetry.Open(ctx, telemetry.Config{Endpoint: "http://127.0.0.1:4318"})
//	reg.Use(traces.Middleware())                                  // a span for each run
//	client := rota.New(store, rota.WithTrace(telemetry.Traceparent)) // jobs continue the span that enqueues them
//	defer traces.Close(ctx)
//
// A program that has a tracer provider passes it to New instead.
package telemetry
