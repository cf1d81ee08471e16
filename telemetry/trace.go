package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// header is the field of W3C Trace Context that jobs store.
const header = "traceparent"

// Traceparent returns the span of a context as a traceparent, or an empty text. Pass it to
// rota.WithTrace.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// continueTrace returns a context whose next span continues a traceparent. If the traceparent is
// invalid, the span starts a new trace.
func continueTrace(ctx context.Context, traceparent string) context.Context {
	ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: traceparent})
}
