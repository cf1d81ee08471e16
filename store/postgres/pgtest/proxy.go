package pgtest

import (
	"testing"

	"github.com/rotajobs/rota/internal/faultproxy"
)

// Proxy is a stretch of network before a server. Cut breaks the connections that
// are open, Hold keeps what is sent without telling anybody, and Heal ends that.
type Proxy struct{ *faultproxy.Proxy }

// Proxy opens a way to the server. It closes with the test.
func (c *Cluster) Proxy(t testing.TB) *Proxy {
	t.Helper()
	p := &Proxy{faultproxy.New(t)}
	p.SetTarget(c.Addr())
	return p
}

// URL is where a database is reached on this way.
func (p *Proxy) URL(database string) string { return at(p.Addr(), database) }
