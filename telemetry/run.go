package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/internal/scrub"
)

// Middleware creates a span for each run. The span continues the span that enqueued the
// job, for every attempt. Handlers find it in their context, so their own spans become part
// of the trace.
func (p *Provider) Middleware() engine.Middleware {
	return func(next engine.Handler) engine.Handler {
		return func(ctx context.Context, job *rota.Job) error {
			ctx, span := p.tracer.Start(continueTrace(ctx, job.Trace), "run "+job.Type,
				trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributesOf(job)...))
			defer span.End()
			err := errors.New("the handler did not return")
			defer func() {
				// The engine recovers panics of handlers. A panic here comes from another
				// middleware; pass it on.
				if p := recover(); p != nil {
					recordEnd(span, fmt.Errorf("panic: %v", p), "panic")
					panic(p)
				}
				recordEnd(span, err, "")
			}()
			err = next(ctx, job)
			return err
		}
	}
}

// attributesOf returns the attributes that are known before the run starts.
func attributesOf(job *rota.Job) []attribute.KeyValue {
	facts := []attribute.KeyValue{
		attribute.String("messaging.system", "rota"),
		attribute.String("messaging.operation.name", "run"),
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.destination.name", job.Type),
		attribute.String("messaging.message.id", job.ID.String()),
		attribute.String("messaging.message.conversation_id", job.ExecutionID.String()),
		attribute.String("rota.job.name", job.DefinitionName()),
		attribute.Int("rota.job.attempt", job.Attempt),
		attribute.Int("rota.job.max_attempts", job.Policy.MaxAttempts),
		attribute.Int("rota.job.priority", job.Priority),
	}
	for key, value := range map[string]string{
		"rota.job.template": job.Template, "rota.job.schedule": job.Schedule, "rota.job.group_id": job.GroupID.String(), "rota.job.retry_of": job.RetryOf.String(),
	} {
		if value != "" {
			facts = append(facts, attribute.String(key, value))
		}
	}
	if !job.PlanTime.IsZero() {
		facts = append(facts, attribute.String("rota.job.plan_time", job.PlanTime.UTC().Format(time.RFC3339Nano)))
	}
	if run := job.Run; run != nil {
		facts = append(facts, attribute.String("rota.run.id", run.ID.String()), attribute.String("rota.run.runner", run.Runner))
	}
	if !job.StartedAt.IsZero() && !job.QueuedAt.IsZero() {
		facts = append(facts, attribute.Float64("rota.job.waited_seconds", max(0, job.StartedAt.Sub(job.QueuedAt)).Seconds()))
	}
	return facts
}

// recordEnd records the end of a run. It scrubs errors as reports do, and separates the stack of
// a panic from its text.
func recordEnd(span trace.Span, err error, code string) {
	if err == nil {
		span.SetAttributes(attribute.String("rota.outcome", "completed"))
		return
	}
	text, stack := describe(err)
	kind := cmp.Or(code, codeOf(err), fmt.Sprintf("%T", err))
	if text == "" {
		text = kind
	}
	event := []attribute.KeyValue{attribute.String("exception.type", kind), attribute.String("exception.message", text)}
	if stack != "" {
		event = append(event, attribute.String("exception.stacktrace", stack))
	}
	line, _, _ := strings.Cut(text, "\n")
	span.AddEvent("exception", trace.WithAttributes(event...))
	span.SetAttributes(attribute.String("rota.outcome", "failed"), attribute.String("error.type", kind))
	if rota.IsPermanent(err) {
		span.SetAttributes(attribute.Bool("rota.permanent", true))
	}
	span.SetStatus(codes.Error, line)
}

// textMax bounds the error text of a span.
const textMax = 4 << 10

// describe returns the text of an error. The Error method is user code and may panic.
func describe(err error) (text, stack string) {
	defer func() {
		if p := recover(); p != nil {
			text, stack = "the error cannot be read", ""
		}
	}()
	text = err.Error()
	if at := strings.LastIndex(text, "\n\ngoroutine "); at >= 0 && strings.HasPrefix(text, "panic: ") {
		text, stack = text[:at], text[at+2:]
	}
	return cut(scrub.Text(text), textMax), cut(scrub.Text(stack), 2*textMax)
}

// cut truncates a text. Secrets must be hidden before, because a truncated secret is not
// recognized.
func cut(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "?") }

func codeOf(err error) (code string) {
	defer func() { _ = recover() }() // Code is user code and may panic
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		code = coded.Code()
	}
	return code
}
