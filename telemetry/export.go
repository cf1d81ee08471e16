package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/rotajobs/rota/internal/scrub"
)

// warnInterval is the minimum time between two warnings about lost traces.
const warnInterval = time.Minute

// exporter sends spans and logs failures. The library alone would print every failure to
// standard error.
type exporter struct {
	next   sdk.SpanExporter
	logger *slog.Logger

	mu         sync.Mutex
	lost       int // spans lost since the last successful export
	unreported int // spans lost since the last warning
	warnedAt   time.Time
}

// ExportSpans sends a batch.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.next.ExportSpans(ctx, spans); err != nil {
		e.warn(len(spans), err)
		return nil
	}
	e.recovered()
	return nil
}

// Shutdown closes the exporter.
func (e *exporter) Shutdown(ctx context.Context) error { return e.next.Shutdown(ctx) }

func (e *exporter) warn(spans int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += spans
	e.unreported += spans
	if time.Since(e.warnedAt) < warnInterval {
		return
	}
	e.warnedAt = time.Now()
	e.logger.Warn("traces cannot be sent and are lost", "spans", e.unreported, "error", scrub.Text(err.Error()), "setting", "otlp_endpoint")
	e.unreported = 0
}

func (e *exporter) recovered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost > 0 {
		e.logger.Info("traces are sent again", "lost", e.lost)
		e.lost, e.unreported = 0, 0
	}
}
