package report

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/rotajobs/rota/internal/scrub"
)

// complainEvery is the minimum time between two warnings about lost reports.
const complainEvery = time.Minute

// watch is an HTTP transport that logs failures. The Sentry client drops reports silently.
type watch struct {
	next   http.RoundTripper
	logger *slog.Logger

	mu         sync.Mutex
	blocked    bool
	complained time.Time
}

func watched(client *http.Client, logger *slog.Logger) *http.Client {
	mine := *client
	next := mine.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	mine.Transport = &watch{next: next, logger: logger}
	return &mine
}

// RoundTrip sends a request and checks the result.
func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(r)
	switch {
	case err != nil:
		w.complain(scrub.Text(err.Error()))
	case response.StatusCode >= http.StatusBadRequest:
		w.complain(fmt.Sprintf("it answers %d %s", response.StatusCode, http.StatusText(response.StatusCode)))
	default:
		w.relieve()
	}
	return response, err
}

func (w *watch) complain(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocked = true
	if time.Since(w.complained) < complainEvery {
		return
	}
	w.complained = time.Now()
	w.logger.Warn("Sentry does not take reports; those of this time are lost", "why", why, "setting", "sentry_dsn")
}

func (w *watch) relieve() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blocked {
		w.blocked = false
		w.logger.Info("Sentry takes reports again")
	}
}
