package pgtest

import (
	"testing"

	"github.com/rotajobs/rota/internal/relay"
)

// Proxy is a stretch of network before a server. Cut breaks the connections that
// are open, Hold keeps what is sent without telling anybody, and Heal ends that.
type Proxy struct{ *relay.Relay }

// Proxy opens a way to the server. It closes with the test.
func (c *Cluster) Proxy(t testing.TB) *Proxy {
	t.Helper()
	p := &Proxy{relay.New(t)}
	p.Lead(c.Addr())
	return p
}

// URL is where a database is reached on this way.
func (p *Proxy) URL(database string) string { return at(p.Addr(), database) }
