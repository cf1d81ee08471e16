package telemetry

import (
	"context"
	"encoding/hex"
	"testing"
)

// Parts of the harness for tests outside of the package.

// NewReceiver returns a receiver of OTLP over HTTP.
func NewReceiver(t *testing.T) *receiver { return newReceiver(t) }

// OpenFor opens a provider for a service.
func OpenFor(t *testing.T, r *receiver, service string) *Provider {
	return open(t, r, func(c *Config) { c.Service = service })
}

// DeadlineContext returns a context with the timeout of a test.
func DeadlineContext(t *testing.T) context.Context { return deadlineContext(t) }

// All returns the received spans.
func (r *receiver) All() []*received { return r.all() }

// Named returns the spans with a name.
func (r *receiver) Named(name string) []*received { return r.named(name) }

// ID returns the id of the span.
func (s *received) ID() string { return hex.EncodeToString(s.SpanId) }

// Parent returns the id of the parent span.
func (s *received) Parent() string { return hex.EncodeToString(s.ParentSpanId) }

// Trace returns the id of the trace.
func (s *received) Trace() string { return hex.EncodeToString(s.TraceId) }

// Service returns the name of the service.
func (s *received) Service() string { return s.resource["service.name"] }

// Check checks attributes.
func (s *received) Check(t *testing.T, facts map[string]string) {
	t.Helper()
	s.check(t, facts)
}
