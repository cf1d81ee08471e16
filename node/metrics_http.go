package node

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// otherRoute is the label of requests that match no route, so that clients cannot
// create labels with arbitrary paths.
const otherRoute = "other"

// instrument wraps a handler and counts its requests by the pattern that
// http.ServeMux stores in them.
func (m *metricSet) instrument(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		began := time.Now()
		answer := &statusWriter{ResponseWriter: w}
		defer func() { // also for a handler that aborts the connection by a panic
			route := routeOf(r)
			m.requests.WithLabelValues(strconv.Itoa(answer.status()), methodOf(r), route).Inc()
			m.requestSeconds.WithLabelValues(route).Observe(time.Since(began).Seconds())
		}()
		next.ServeHTTP(answer, r)
	})
}

// routeOf is the path of the pattern that the request matched.
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

// methods have a label each; all others share otherRoute.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

func methodOf(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return otherRoute
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader records the status and sends the header.
func (w *statusWriter) WriteHeader(status int) {
	if w.code == 0 && status >= http.StatusOK { // lower ones are informational
		w.code = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController access to the wrapped writer.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
