package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// header is the one field of W3C Trace Context that jobs keep.
const header = "traceparent"

// Traceparent is the span of a context as jobs carry it, empty if there is none.
// Give it to rota.WithTrace.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// goingOn is a context whose next span goes on from a traceparent. If that is
// none, a trace begins.
func goingOn(ctx context.Context, traceparent string) context.Context {
	ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: traceparent})
}
