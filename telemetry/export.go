package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/rotajobs/rota/internal/scrub"
)

// complainEvery is the minimum time between two warnings about lost traces.
const complainEvery = time.Minute

// exporter sends spans and logs failures. The library alone would print every failure to
// standard error.
type exporter struct {
	next   sdk.SpanExporter
	logger *slog.Logger

	mu         sync.Mutex
	lost       int // spans lost since the last successful export
	unsaid     int // spans lost since the last warning
	complained time.Time
}

// ExportSpans sends a batch.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.next.ExportSpans(ctx, spans); err != nil {
		e.complain(len(spans), err)
		return nil
	}
	e.relieve()
	return nil
}

// Shutdown closes the exporter.
func (e *exporter) Shutdown(ctx context.Context) error { return e.next.Shutdown(ctx) }

func (e *exporter) complain(spans int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += spans
	e.unsaid += spans
	if time.Since(e.complained) < complainEvery {
		return
	}
	e.complained = time.Now()
	e.logger.Warn("traces cannot be sent, and are lost", "spans", e.unsaid, "why", scrub.Text(err.Error()), "setting", "otlp_endpoint")
	e.unsaid = 0
}

func (e *exporter) relieve() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost > 0 {
		e.logger.Info("traces are sent again", "lost", e.lost)
		e.lost, e.unsaid = 0, 0
	}
}
