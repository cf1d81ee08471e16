//go:build unix

package workertest

import (
	"testing"

	"github.com/rotajobs/rota/internal/faultproxy"
)

// Proxy is a fault proxy between a worker and a server.
type Proxy struct{ *faultproxy.Proxy }

// NewProxy opens a proxy without a target. It closes with the test.
func NewProxy(t testing.TB) *Proxy {
	t.Helper()
	return &Proxy{faultproxy.New(t)}
}

// URL is the URL of the proxy.
func (r *Proxy) URL() string { return "http://" + r.Addr() }
