package report

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/rotajobs/rota/internal/scrub"
)

// warnInterval is the minimum time between two warnings about lost reports.
const warnInterval = time.Minute

// loggingTransport is an HTTP transport that logs failures. The Sentry client drops reports silently.
type loggingTransport struct {
	next   http.RoundTripper
	logger *slog.Logger

	mu       sync.Mutex
	failing  bool
	warnedAt time.Time
}

func withLogging(client *http.Client, logger *slog.Logger) *http.Client {
	own := *client
	next := own.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	own.Transport = &loggingTransport{next: next, logger: logger}
	return &own
}

// RoundTrip sends a request and checks the result.
func (w *loggingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(r)
	switch {
	case err != nil:
		w.warn(scrub.Text(err.Error()))
	case response.StatusCode >= http.StatusBadRequest:
		w.warn(fmt.Sprintf("the server answered %d %s", response.StatusCode, http.StatusText(response.StatusCode)))
	default:
		w.recovered()
	}
	return response, err
}

func (w *loggingTransport) warn(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failing = true
	if time.Since(w.warnedAt) < warnInterval {
		return
	}
	w.warnedAt = time.Now()
	w.logger.Warn("Sentry does not accept reports; reports are lost until it does", "error", reason, "setting", "sentry_dsn")
}

func (w *loggingTransport) recovered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing {
		w.failing = false
		w.logger.Info("Sentry accepts reports again")
	}
}
