package telemetry

import (
	"context"
	"encoding/hex"
	"testing"
)

// What the tests outside of the package use of the harness.

// NewReceiver takes OTLP over HTTP.
func NewReceiver(t *testing.T) *receiver { return newReceiver(t) }

// OpenFor opens a provider for a service.
func OpenFor(t *testing.T, r *receiver, service string) *Provider {
	return open(t, r, func(c *Config) { c.Service = service })
}

// Soon is a context that ends when a test has waited long enough.
func Soon(t *testing.T) context.Context { return soon(t) }

// All are the spans that have come.
func (r *receiver) All() []*received { return r.all() }

// Named are the spans of a name.
func (r *receiver) Named(name string) []*received { return r.named(name) }

// ID is the span's.
func (s *received) ID() string { return hex.EncodeToString(s.SpanId) }

// Parent is the id of the span it is under.
func (s *received) Parent() string { return hex.EncodeToString(s.ParentSpanId) }

// Trace is the id of its trace.
func (s *received) Trace() string { return hex.EncodeToString(s.TraceId) }

// Service is whose it is.
func (s *received) Service() string { return s.resource["service.name"] }

// Wants checks attributes.
func (s *received) Wants(t *testing.T, facts map[string]string) {
	t.Helper()
	s.wants(t, facts)
}
