package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/scrub"
)

// Enqueuing begins the span of enqueuing some jobs. It goes on from the span of
// the context, else from a traceparent, which may be empty. What it returns is the
// traceparent of the jobs, and what is to be called when they were accepted or
// refused. It fits httpapi.Config.Enqueuing.
func (p *Provider) Enqueuing(ctx context.Context, parent string, jobs int) (traceparent string, done func(error)) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = goingOn(ctx, parent)
	}
	ctx, span := p.tracer.Start(ctx, "enqueue", trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		attribute.String("messaging.system", "rota"),
		attribute.String("messaging.operation.name", "enqueue"),
		attribute.String("messaging.operation.type", "send"),
		attribute.Int("messaging.batch.message_count", jobs),
	))
	return Traceparent(ctx), func(err error) {
		defer span.End()
		if err != nil {
			refused(span, err)
		}
	}
}

// refused writes down why something was not done.
func refused(span trace.Span, err error) {
	span.SetAttributes(attribute.String("error.type", string(rota.CodeOf(err))))
	span.SetStatus(codes.Error, cut(scrub.Text(err.Error()), textMax))
}
