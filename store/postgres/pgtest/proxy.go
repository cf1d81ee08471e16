package pgtest

import (
	"testing"

	"github.com/rotajobs/rota/internal/faultproxy"
)

// Proxy is a TCP proxy in front of a server. Cut breaks the open connections, Hold stops forwarding
// without an error, and Heal ends both.
type Proxy struct{ *faultproxy.Proxy }

// Proxy starts a proxy that ends with the test.
func (c *Cluster) Proxy(t testing.TB) *Proxy {
	t.Helper()
	p := &Proxy{faultproxy.New(t)}
	p.SetTarget(c.Addr())
	return p
}

// URL returns the URL of a database through the proxy.
func (p *Proxy) URL(database string) string { return tcpURL(p.Addr(), database) }
