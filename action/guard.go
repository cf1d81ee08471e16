package action

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// AllowSetting is the name of the server's setting for an Allow, used in hints.
const AllowSetting = "http_allow"

// Guard connects to untrusted addresses, except those of internal networks. It
// resolves a name once, checks every address, and connects to the checked addresses
// only, so a second DNS answer cannot bypass the check (DNS rebinding). The zero
// value allows the public internet.
type Guard struct {
	Allow    Allow
	Resolver Resolver // nil: the system's
}

// Resolver finds the addresses of a host, as a *net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const (
	connectMax   = 10 * time.Second // for all addresses of a host together
	addressesMax = 16               // addresses of a host that are tried
)

// DialContext connects to a host, for an http.Transport. A refusal is a
// *rota.Error with the code Denied that names the address and the setting.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, connectMax, errConnect)
	defer stop()
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if err := g.check(host, addrs); err != nil {
		return nil, err
	}
	return dialFirst(ctx, network, addrs[:min(len(addrs), addressesMax)], port)
}

var errConnect = fmt.Errorf("no connection within %v", connectMax)

// resolve finds the addresses of a host, which may itself be an address.
func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if isNumber(lastLabel(strings.TrimSuffix(host, "."))) {
		return nil, refused(fmt.Sprintf("the host %s is an IP address in an unsupported form", quoteShort(host)), "write four decimal numbers with dots between them, such as 192.0.2.1")
	}
	var resolver Resolver = net.DefaultResolver
	if g.Resolver != nil {
		resolver = g.Resolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", host)
	switch {
	case err != nil:
		return nil, causeOr(ctx, err)
	case len(addrs) == 0:
		return nil, fmt.Errorf("the host %s has no address", quoteShort(host))
	}
	return addrs, nil
}

// check refuses a host if one of its addresses is not allowed, so that the result
// does not depend on the address that is tried first.
func (g *Guard) check(host string, addrs []netip.Addr) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if g.Allow.host(name) {
		return nil
	}
	for _, addr := range addrs {
		may, is := g.Allow.addr(addr)
		if may {
			continue
		}
		addr = normalAddr(addr)
		reason, entries := fmt.Sprintf("%s is %s", addr, classWords[is]), addr.String()
		if _, err := netip.ParseAddr(host); err != nil {
			reason, entries = fmt.Sprintf("the host %s resolves to %s, %s", quoteShort(host), addr, classWords[is]), addr.String()+" or "+name
		}
		return refused(reason, fmt.Sprintf("if requests may go there, add %s to the setting %s of the server", entries, AllowSetting))
	}
	return nil
}

// refused is the error of an address that the guard refuses.
func refused(reason, hint string) error {
	return &rota.Error{Code: rota.Denied, Reason: "out of bounds: " + reason, Hint: hint}
}

// isRefused reports whether the guard refused.
func isRefused(err error) bool {
	var e *rota.Error
	return errors.As(err, &e) && e.Code == rota.Denied
}

// dialFirst connects to the first address that answers. Each gets an equal
// share of the remaining time, so that one without an answer does not use all of it.
func dialFirst(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	var first error
	for i, addr := range addrs {
		conn, err := dialOne(ctx, network, net.JoinHostPort(addr.String(), port), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, causeOr(ctx, first)
}

func dialOne(ctx context.Context, network, address string, shares int) (net.Conn, error) {
	if end, has := ctx.Deadline(); has {
		one, stop := context.WithTimeout(ctx, time.Until(end)/time.Duration(shares))
		defer stop()
		ctx = one
	}
	return (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

// causeOr is the cause of the end of a context, or err if it has not ended.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// transport makes the connections of one client. It does not use the proxies of the
// environment: a proxy would resolve the name, and the guard could not check it.
func (g *Guard) transport() *http.Transport {
	return &http.Transport{
		DialContext:            g.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectMax,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ExpectContinueTimeout:  time.Second,
	}
}

// schemes are the URL schemes of requests.
var schemes = []string{"http", "https"}

func isScheme(scheme string) bool { return slices.Contains(schemes, scheme) }
