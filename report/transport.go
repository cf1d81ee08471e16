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
func (t *loggingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	switch {
	case err != nil:
		t.warn(scrub.Text(err.Error()))
	case response.StatusCode >= http.StatusBadRequest:
		t.warn(fmt.Sprintf("the server answered %d %s", response.StatusCode, http.StatusText(response.StatusCode)))
	default:
		t.recovered()
	}
	return response, err
}

func (t *loggingTransport) warn(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failing = true
	if time.Since(t.warnedAt) < warnInterval {
		return
	}
	t.warnedAt = time.Now()
	t.logger.Warn("Sentry does not accept reports; reports are lost until it does", "error", reason, "setting", "sentry_dsn")
}

func (t *loggingTransport) recovered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failing {
		t.failing = false
		t.logger.Info("Sentry accepts reports again")
	}
}
