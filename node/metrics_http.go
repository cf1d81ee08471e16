package node

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// otherRoute is how requests are counted that no route is for, so that nobody
// makes labels by asking for odd addresses.
const otherRoute = "other"

// counting counts requests around a handler, by the pattern that http.ServeMux
// leaves in them.
func (m *meters) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		began := time.Now()
		answer := &statusWriter{ResponseWriter: w}
		defer func() { // also of one that hangs up, which panics
			route := routeOf(r)
			m.requests.WithLabelValues(strconv.Itoa(answer.status()), methodOf(r), route).Inc()
			m.requestSeconds.WithLabelValues(route).Observe(time.Since(began).Seconds())
		}()
		next.ServeHTTP(answer, r)
	})
}

// routeOf is the path of the pattern that a request matched.
func routeOf(r *http.Request) string {
	path := r.Pattern
	if _, behind, found := strings.Cut(path, " "); found {
		path = behind
	}
	if path == "" || path == "/" {
		return otherRoute
	}
	return strings.TrimSuffix(path, "{$}")
}

// methods are those that have a label of their own.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

func methodOf(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return otherRoute
}

// statusWriter knows the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader begins the answer.
func (w *statusWriter) WriteHeader(status int) {
	if w.code == 0 && status >= http.StatusOK { // those below are announcements
		w.code = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a ResponseController reach what is behind.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
