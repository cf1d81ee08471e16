package report

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/rotajobs/rota/internal/scrub"
)

// complainEvery is how often it is said at most that reports cannot be sent.
const complainEvery = time.Minute

// watch is a way to Sentry that says when it is blocked: the client itself drops
// what cannot be sent without a word.
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

// RoundTrip sends one request and looks at how that went.
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
