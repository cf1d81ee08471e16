// Package telemetry makes traces of jobs with OpenTelemetry: from the request
// that enqueues one to each of its runs, in this process or another.
//
//	traces, err := telemetry.Open(ctx, telemetry.Config{Endpoint: "http://127.0.0.1:4318"})
//	reg.Use(traces.Middleware())                                  // a span for each run
//	client := rota.New(store, rota.WithTrace(telemetry.Traceparent)) // jobs go on from the span that enqueues them
//	defer traces.Close(ctx)
//
// A program with a tracer provider of its own gives it to New instead.
package telemetry
