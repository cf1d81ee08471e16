//go:build unix

package workertest

import (
	"testing"

	"github.com/rotajobs/rota/internal/faultproxy"
)

// Relay is a stretch of network between a worker and a server.
type Relay struct{ *faultproxy.Proxy }

// NewRelay opens a relay that leads nowhere yet. It closes with the test.
func NewRelay(t testing.TB) *Relay {
	t.Helper()
	return &Relay{faultproxy.New(t)}
}

// URL is where the relay is reached.
func (r *Relay) URL() string { return "http://" + r.Addr() }
