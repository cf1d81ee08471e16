package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/scrub"
)

// Enqueuing starts the span of an enqueue. The span continues the span of the context, or
// else a traceparent, which may be empty. Enqueuing returns the traceparent for the jobs
// and a function to call when the store has accepted or refused them. It fits
// httpapi.Config.OnEnqueue.
func (p *Provider) Enqueuing(ctx context.Context, parent string, jobs int) (traceparent string, done func(error)) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = continueTrace(ctx, parent)
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
			recordRefusal(span, err)
		}
	}
}

// recordRefusal records the reason of a refusal.
func recordRefusal(span trace.Span, err error) {
	span.SetAttributes(attribute.String("error.type", string(rota.CodeOf(err))))
	span.SetStatus(codes.Error, cut(scrub.Text(err.Error()), textMax))
}
