package telemetry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// recorded returns a provider that keeps its spans.
func recorded(sampler sdk.Sampler) (*Provider, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return New(sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder), sdk.WithSampler(sampler))), recorder
}

// only returns the only span.
func only(t *testing.T, recorder *tracetest.SpanRecorder) sdk.ReadOnlySpan {
	t.Helper()
	ended := recorder.Ended()
	if len(ended) != 1 {
		t.Fatalf("%d spans", len(ended))
	}
	return ended[0]
}

func factsOf(attributes []attribute.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

func mail() *rota.Job {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	return &rota.Job{
		ID: rota.NewID(), ExecutionID: rota.NewID(), RetryOf: rota.NewID(), Type: "mail", Name: "newsletter", Template: "letters", Schedule: "daily",
		Attempt: 2, Policy: rota.Policy{MaxAttempts: 3}, Priority: 5, Trace: parent,
		PlanTime: at, QueuedAt: at, StartedAt: at.Add(250 * time.Millisecond), Run: &rota.Run{ID: rota.NewID(), Runner: "worker-3"},
	}
}

func TestMiddlewareCreatesSpanPerRun(t *testing.T) {
	p, recorder := recorded(sdk.AlwaysSample())
	job := mail()
	var inside string
	run := p.Middleware()(func(ctx context.Context, got *rota.Job) error {
		if got != job {
			t.Error("the handler got another job")
		}
		inside = Traceparent(ctx)
		return nil
	})
	if err := run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	span := only(t, recorder)
	if span.Name() != "run mail" || span.SpanKind() != trace.SpanKindConsumer || span.Status().Code != codes.Unset {
		t.Errorf("%s %v %v", span.Name(), span.SpanKind(), span.Status())
	}
	if p := span.Parent(); p.TraceID().String() != parent[3:35] || p.SpanID().String() != parent[36:52] || !p.IsRemote() {
		t.Errorf("its parent is %v", p)
	}
	if want := "00-" + parent[3:35] + "-" + span.SpanContext().SpanID().String() + "-01"; inside != want {
		t.Errorf("the handler is in %q, want %q", inside, want)
	}
	got := factsOf(span.Attributes())
	for key, want := range map[string]string{
		"messaging.system": "rota", "messaging.operation.name": "run", "messaging.operation.type": "process",
		"messaging.destination.name": "mail", "messaging.message.id": job.ID.String(), "messaging.message.conversation_id": job.ExecutionID.String(),
		"rota.job.name": "newsletter", "rota.job.attempt": "2", "rota.job.max_attempts": "3", "rota.job.priority": "5",
		"rota.job.template": "letters", "rota.job.schedule": "daily", "rota.job.group_id": "", "rota.job.retry_of": job.RetryOf.String(),
		"rota.job.plan_time": "2026-11-15T12:00:00Z", "rota.job.waited_seconds": "0.25",
		"rota.run.id": job.Run.ID.String(), "rota.run.runner": "worker-3", "rota.outcome": "completed",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}

func TestMiddlewareWithoutTraceStartsTrace(t *testing.T) {
	for _, given := range []string{"", "nonsense", "00-00000000000000000000000000000000-0000000000000000-01"} {
		p, recorder := recorded(sdk.AlwaysSample())
		// The context of the engine may have a span; jobs are not part of it.
		ctx, other := sdk.NewTracerProvider().Tracer("").Start(t.Context(), "serve")
		job := &rota.Job{Type: "bare", Trace: given}
		if err := p.Middleware()(func(context.Context, *rota.Job) error { return nil })(ctx, job); err != nil {
			t.Fatal(err)
		}
		other.End()
		if span := only(t, recorder); span.Parent().IsValid() || span.SpanContext().TraceID() == other.SpanContext().TraceID() {
			t.Errorf("%q: its parent is %v", given, span.Parent())
		}
	}
}

// coded is an error with a code.
type coded struct{ text, code string }

func (e *coded) Error() string { return e.text }
func (e *coded) Code() string  { return e.code }

func TestMiddlewareRecordsFailure(t *testing.T) {
	const url = " postgres://u:" // the password is at the position of the cut
	atTheCut := strings.Repeat("x", textMax-len(url+"[hidden]@db")) + url
	for _, test := range []struct {
		err     error
		status  string
		message string
		stack   string
		kind    string
	}{
		{errors.New("refused by postgres://u:hunter2@db"), "refused by postgres://u:[hidden]@db", "refused by postgres://u:[hidden]@db", "", "*errors.errorString"},
		{rota.Permanent(&coded{"one\ntwo", "quota"}), "one", "one\ntwo", "", "quota"},
		{
			&coded{"panic: boom\n\ngoroutine 7 [running]:\nmain.main()\n\t/a/token.go:12", "panic"}, "panic: boom", "panic: boom",
			"goroutine 7 [running]:\nmain.main()\n\t/a/token.go:12", "panic",
		},
		{(*coded)(nil), "the error cannot be read", "the error cannot be read", "", "*telemetry.coded"},
		{errors.New(""), "*errors.errorString", "*errors.errorString", "", "*errors.errorString"},
		{errors.New(atTheCut + strings.Repeat("hunter2", 10) + "@db"), atTheCut + "[hidden]@db", atTheCut + "[hidden]@db", "", "*errors.errorString"},
		{errors.New("\xff" + strings.Repeat("x", 10_000)), "?" + strings.Repeat("x", textMax-1), "?" + strings.Repeat("x", textMax-1), "", "*errors.errorString"},
	} {
		p, recorder := recorded(sdk.AlwaysSample())
		got := p.Middleware()(func(context.Context, *rota.Job) error { return test.err })(t.Context(), mail())
		if got != test.err {
			t.Errorf("the error became %v", got)
		}
		span := only(t, recorder)
		facts := factsOf(span.Attributes())
		if span.Status() != (sdk.Status{Code: codes.Error, Description: test.status}) || facts["error.type"] != test.kind || facts["rota.outcome"] != "failed" {
			t.Errorf("%v, %v", span.Status(), facts)
		}
		if test.kind == "quota" && facts["rota.permanent"] != "true" {
			t.Error("the span is not marked as permanent")
		}
		events := span.Events()
		if len(events) != 1 || events[0].Name != "exception" {
			t.Fatalf("events %v", events)
		}
		exception := factsOf(events[0].Attributes)
		if exception["exception.message"] != test.message || exception["exception.stacktrace"] != test.stack || exception["exception.type"] != test.kind {
			t.Errorf("%v", exception)
		}
	}
}

// The engine converts the panic to the end of the run.
func TestMiddlewarePassesPanicOn(t *testing.T) {
	p, recorder := recorded(sdk.AlwaysSample())
	run := p.Middleware()(func(context.Context, *rota.Job) error { panic(fmt.Errorf("boom %s", "token=hunter2")) })
	func() {
		defer func() {
			if p := recover(); fmt.Sprint(p) != "boom token=hunter2" {
				t.Errorf("the panic value is %v", p)
			}
		}()
		_ = run(t.Context(), mail())
	}()
	if span := only(t, recorder); span.Status().Description != "panic: boom token=[hidden]" || factsOf(span.Attributes())["error.type"] != "panic" {
		t.Errorf("%v", span.Status())
	}

	p, recorder = recorded(sdk.AlwaysSample())
	run = p.Middleware()(func(context.Context, *rota.Job) error { runtime.Goexit(); return nil })
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = run(context.Background(), mail())
	}()
	<-gone
	if span := only(t, recorder); span.Status().Description != "the handler did not return" {
		t.Errorf("%v", span.Status())
	}
}

func TestSamplingFollowsParent(t *testing.T) {
	unsampled := parent[:53] + "00"
	for _, test := range []struct {
		sample float64
		trace  string
		want   int
	}{{1, parent, 1}, {1, unsampled, 0}, {1, "", 1}, {1e-12, parent, 1}, {1e-12, unsampled, 0}, {1e-12, "", 0}} {
		p, recorder := recorded(sdk.ParentBased(sdk.TraceIDRatioBased(test.sample)))
		var inside string
		run := p.Middleware()(func(ctx context.Context, _ *rota.Job) error { inside = Traceparent(ctx); return nil })
		if err := run(t.Context(), &rota.Job{Type: "mail", Trace: test.trace}); err != nil {
			t.Fatal(err)
		}
		if n := len(recorder.Ended()); n != test.want {
			t.Errorf("%g of %q: %d spans, want %d", test.sample, test.trace, n, test.want)
		}
		if sampled := strings.HasSuffix(inside, "-01"); sampled != (test.want == 1) { // child spans have the same decision
			t.Errorf("%g of %q: the traceparent inside is %q", test.sample, test.trace, inside)
		}
	}
}

func TestEnqueuingCreatesSpan(t *testing.T) {
	p, recorder := recorded(sdk.AlwaysSample())
	trace1, done := p.Enqueuing(t.Context(), parent, 3)
	done(nil)
	ctx, request := sdk.NewTracerProvider().Tracer("").Start(t.Context(), "request")
	trace2, done := p.Enqueuing(ctx, parent, 1)
	done(rota.Invalidf("jobs[0].type", "is not declared; token=hunter2"))
	trace3, done := p.Enqueuing(t.Context(), "", 1)
	done(nil)
	spans := recorder.Ended()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for i, want := range []string{parent[36:52], request.SpanContext().SpanID().String(), "0000000000000000"} {
		if got := spans[i].Parent().SpanID().String(); got != want || spans[i].SpanKind() != trace.SpanKindProducer || spans[i].Name() != "enqueue" {
			t.Errorf("%d: %s under %s, want %s", i, spans[i].Name(), got, want)
		}
		given := []string{trace1, trace2, trace3}[i]
		if !rota.ValidTrace(given) || given[36:52] != spans[i].SpanContext().SpanID().String() {
			t.Errorf("%d: the traceparent of the jobs is %q", i, given)
		}
	}
	if factsOf(spans[0].Attributes())["messaging.batch.message_count"] != "3" || spans[0].Status().Code != codes.Unset {
		t.Errorf("%v %v", spans[0].Attributes(), spans[0].Status())
	}
	if spans[1].Status().Code != codes.Error || !strings.Contains(spans[1].Status().Description, "token=[hidden]") || factsOf(spans[1].Attributes())["error.type"] != "invalid" {
		t.Errorf("%v", spans[1].Status())
	}
}

// The middleware fits a registry.
func TestMiddlewareFitsRegistry(t *testing.T) {
	p, _ := recorded(sdk.AlwaysSample())
	reg := engine.NewRegistry()
	reg.Use(p.Middleware())
	if !slices.Equal(reg.Types(), []string{}) {
		t.Error("the middleware adds types")
	}
}
