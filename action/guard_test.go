package action

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// allow reads a list that is right.
func allow(t testing.TB, list string) Allow {
	t.Helper()
	a, err := ParseAllow(list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// names is a DNS: the addresses of a name, one list for each time that it is
// asked for, the last of them from then on.
type names map[string][][]string

// resolver answers from names, and counts.
type resolver struct {
	names names
	asked atomic.Int64
}

func (r *resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	answers := r.names[strings.ToLower(strings.TrimSuffix(host, "."))]
	n := int(r.asked.Add(1)) - 1
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "10.0.0.53:53", IsNotFound: true}
	}
	var addrs []netip.Addr
	for _, text := range answers[min(n, len(answers)-1)] {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

// listen serves on an address of this machine, and skips the test where that
// cannot be had.
func listen(t *testing.T, addr string, handler http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("%s cannot be had here: %v", addr, err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func portOf(s *httptest.Server) string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return port
}

// refusal dials, and wants to be refused.
func refusal(t *testing.T, g *Guard, address string) string {
	t.Helper()
	conn, err := g.DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = conn.Close()
		t.Fatalf("%s was reached", address)
	}
	if rota.CodeOf(err) != rota.Denied {
		t.Fatalf("%s fails by something else: %v", address, err)
	}
	return err.Error()
}

func TestGuardErrorNamesAddressAndSetting(t *testing.T) {
	dns := &resolver{names: names{"inside.example.com": {{"10.1.2.3"}}, "metadata.google.internal": {{"169.254.169.254"}}}}
	for address, want := range map[string]string{
		"127.0.0.1:80":                "out of bounds: 127.0.0.1 is an address of this machine itself; if requests may go there, add 127.0.0.1 to the setting http_allow of the server",
		"[::1]:80":                    "add ::1 to the setting http_allow",
		"[::ffff:10.0.0.1]:80":        "10.0.0.1 is an address of a private network",
		"inside.example.com:443":      `the host "inside.example.com" leads to 10.1.2.3, an address of a private network; if requests may go there, add 10.1.2.3 or inside.example.com to the setting`,
		"INSIDE.example.com.:443":     "add 10.1.2.3 or inside.example.com to",
		"metadata.google.internal:80": "where clouds keep the credentials of their machines",
		"2130706433:80":               "is an address that is not written as one; write four numbers",
		"0177.0.0.1:80":               "is an address that is not written as one",
		"0x7f.0.0.1:80":               "is an address that is not written as one",
		"127.1:80":                    "is an address that is not written as one",
		"127.0.0.1.:80":               "is an address that is not written as one",
		"0x7f000001:80":               "is an address that is not written as one",
		"1.2.3.0x4:80":                "is an address that is not written as one",
	} {
		if got := refusal(t, &Guard{Resolver: dns}, address); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", address, got, want)
		}
	}
}

// TestGuardRefusesAHostWithOneRefusedAddress: nobody knows which of several would be connected to.
func TestGuardRefusesAHostWithOneRefusedAddress(t *testing.T) {
	dns := &resolver{names: names{"mixed": {{"127.0.0.2", "8.8.8.8", "192.168.1.1"}}}}
	if got := refusal(t, &Guard{Allow: allow(t, "127.0.0.2"), Resolver: dns}, "mixed:80"); !strings.Contains(got, "192.168.1.1") {
		t.Error(got)
	}
}

// TestGuardConnectsToTheCheckedAddressOnly: a name that leads outside when it is
// looked at, and inside a moment later, leads outside.
func TestGuardConnectsToTheCheckedAddressOnly(t *testing.T) {
	var reached atomic.Int64
	outside := listen(t, "127.0.0.2:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	listen(t, "127.0.0.1:"+portOf(outside), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))

	dns := &resolver{names: names{"rebind": {{"127.0.0.2"}, {"127.0.0.1"}}}}
	g := &Guard{Allow: allow(t, "127.0.0.2"), Resolver: dns}
	client := &http.Client{Transport: g.transport()}
	res, err := client.Get("http://rebind:" + portOf(outside))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if dns.asked.Load() != 1 || reached.Load() != 0 {
		t.Errorf("the name was asked for %d times, and what is inside reached %d times", dns.asked.Load(), reached.Load())
	}
	client.CloseIdleConnections()
	if _, err := client.Get("http://rebind:" + portOf(outside)); rota.CodeOf(err) != rota.Denied || reached.Load() != 0 {
		t.Errorf("the second answer is not looked at: %v, reached %d times", err, reached.Load())
	}
}

func TestGuardTriesTheNextAddressAfterAFailure(t *testing.T) {
	s := listen(t, "127.0.0.2:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	dns := &resolver{names: names{"two": {{"127.0.0.3", "127.0.0.2"}}}}
	conn, err := (&Guard{Allow: allow(t, "loopback"), Resolver: dns}).DialContext(t.Context(), "tcp", "two:"+portOf(s))
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.RemoteAddr().String(); got != "127.0.0.2:"+portOf(s) {
		t.Errorf("it leads to %s", got)
	}
	_ = conn.Close()
}

func TestGuardAllowsAHostByName(t *testing.T) {
	s := listen(t, "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	dns := &resolver{names: names{"a.svc.internal": {{"127.0.0.1"}}, "a.svc.internal.evil.com": {{"127.0.0.1"}}}}
	g := &Guard{Allow: allow(t, "*.svc.internal"), Resolver: dns}
	for _, host := range []string{"a.svc.internal", "A.SVC.internal."} {
		conn, err := g.DialContext(t.Context(), "tcp", host+":"+portOf(s))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	refusal(t, g, "a.svc.internal.evil.com:"+portOf(s))
	refusal(t, g, "127.0.0.1:"+portOf(s)) // which the name does not make good
}

func TestGuardDialEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	_, err := (&Guard{Allow: allow(t, "loopback")}).DialContext(ctx, "tcp", "127.0.0.1:9")
	if !errors.Is(err, why) {
		t.Error(err)
	}
	_, err = (&Guard{Resolver: &resolver{}}).DialContext(t.Context(), "tcp", "nowhere.example:80")
	var dns *net.DNSError
	if !errors.As(err, &dns) {
		t.Error(err)
	}
}

// TestGuardIgnoresProxiesOfTheEnvironment: one would connect where the guard does not look.
func TestGuardIgnoresProxiesOfTheEnvironment(t *testing.T) {
	var asked atomic.Int64
	proxy := listen(t, "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	t.Setenv("ALL_PROXY", proxy.URL)
	g := &Guard{Resolver: &resolver{names: names{"inside": {{"10.0.0.1"}}}}}
	client := &http.Client{Transport: g.transport(), Timeout: 10 * time.Second}
	if _, err := client.Get("http://inside/"); rota.CodeOf(err) != rota.Denied || asked.Load() != 0 {
		t.Errorf("%v; the proxy was asked %d times", err, asked.Load())
	}
	if g.transport().Proxy != nil {
		t.Error("it has a proxy")
	}
}
