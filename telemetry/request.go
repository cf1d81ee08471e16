package telemetry

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/scrub"
)

// Handler makes a span of each request that changes something, in the trace of
// its caller. Reading is left out, and so is what workers ask all day long: they
// would drown the rest.
func (p *Provider) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !traced(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, span := p.tracer.Start(goingOn(r.Context(), r.Header.Get(header)), r.Method, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("url.path", r.URL.Path)))
		answer, request := &answered{ResponseWriter: w}, r.WithContext(ctx)
		defer func() { // also of one that hangs up, which panics
			r.Pattern = request.Pattern // for whoever is around this
			describeAnswer(span, answer.status(), route(r.Pattern), r.Method)
			span.End()
		}()
		next.ServeHTTP(answer, request)
	})
}

func traced(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return false
	}
	for _, often := range []string{"/claim", "/extend", "/finish"} {
		if strings.HasSuffix(r.URL.Path, often) {
			return false
		}
	}
	return true
}

// route is the path of a pattern of http.ServeMux.
func route(pattern string) string {
	if _, path, found := strings.Cut(pattern, " "); found {
		return path
	}
	return pattern
}

func describeAnswer(span trace.Span, status int, route, method string) {
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if route != "" {
		span.SetName(method + " " + route)
		span.SetAttributes(attribute.String("http.route", route))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
}

// refused writes down why something was not done.
func refused(span trace.Span, err error) {
	span.SetAttributes(attribute.String("error.type", string(rota.CodeOf(err))))
	span.SetStatus(codes.Error, scrub.Text(err.Error()))
}

// answered knows the status of an answer.
type answered struct {
	http.ResponseWriter
	code int
}

// WriteHeader begins the answer.
func (a *answered) WriteHeader(status int) {
	if a.code == 0 && status >= http.StatusOK { // those below are announcements
		a.code = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a ResponseController reach what is behind.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answered) status() int {
	if a.code == 0 {
		return http.StatusOK
	}
	return a.code
}
