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

// allow parses a valid list.
func allow(t testing.TB, list string) Allow {
	t.Helper()
	a, err := ParseAllow(list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// dnsRecords are the addresses of each name: one list for each lookup. The last list is
// also the answer to all later lookups.
type dnsRecords map[string][][]string

// resolver answers from records, and counts the lookups.
type resolver struct {
	records  dnsRecords
	requests atomic.Int64
}

func (r *resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	answers := r.records[strings.ToLower(strings.TrimSuffix(host, "."))]
	n := int(r.requests.Add(1)) - 1
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "10.0.0.53:53", IsNotFound: true}
	}
	var addrs []netip.Addr
	for _, text := range answers[min(n, len(answers)-1)] {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

// listen serves on an address of this machine, and skips the test if the machine does
// not have the address.
func listen(t *testing.T, addr string, handler http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("this machine cannot listen on %s: %v", addr, err)
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

// mustRefuse dials an address, requires that the guard refuses it, and returns the error.
func mustRefuse(t *testing.T, g *Guard, address string) string {
	t.Helper()
	conn, err := g.DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = conn.Close()
		t.Fatalf("the guard connected to %s", address)
	}
	if rota.CodeOf(err) != rota.Denied {
		t.Fatalf("%s failed with another error: %v", address, err)
	}
	return err.Error()
}

func TestGuardErrorNamesAddressAndSetting(t *testing.T) {
	dns := &resolver{records: dnsRecords{"inside.example.com": {{"10.1.2.3"}}, "metadata.google.internal": {{"169.254.169.254"}}}}
	for address, want := range map[string]string{
		"127.0.0.1:80":                "out of bounds: 127.0.0.1 is an address of this machine itself; if requests may go there, add 127.0.0.1 to the setting http_allow of the server",
		"[::1]:80":                    "add ::1 to the setting http_allow",
		"[::ffff:10.0.0.1]:80":        "10.0.0.1 is an address of a private network",
		"inside.example.com:443":      `the host "inside.example.com" resolves to 10.1.2.3, an address of a private network; if requests may go there, add 10.1.2.3 or inside.example.com to the setting`,
		"INSIDE.example.com.:443":     "add 10.1.2.3 or inside.example.com to",
		"metadata.google.internal:80": "a cloud metadata address",
		"2130706433:80":               "is an IP address in an unsupported form; write four decimal numbers",
		"0177.0.0.1:80":               "is an IP address in an unsupported form",
		"0x7f.0.0.1:80":               "is an IP address in an unsupported form",
		"127.1:80":                    "is an IP address in an unsupported form",
		"127.0.0.1.:80":               "is an IP address in an unsupported form",
		"0x7f000001:80":               "is an IP address in an unsupported form",
		"1.2.3.0x4:80":                "is an IP address in an unsupported form",
	} {
		if got := mustRefuse(t, &Guard{Resolver: dns}, address); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", address, got, want)
		}
	}
}

// TestGuardRefusesHostWithOneRefusedAddress: the connection could use any address of the
// host.
func TestGuardRefusesHostWithOneRefusedAddress(t *testing.T) {
	dns := &resolver{records: dnsRecords{"mixed": {{"127.0.0.2", "8.8.8.8", "192.168.1.1"}}}}
	if got := mustRefuse(t, &Guard{Allow: allow(t, "127.0.0.2"), Resolver: dns}, "mixed:80"); !strings.Contains(got, "192.168.1.1") {
		t.Error(got)
	}
}

// TestGuardConnectsToCheckedAddressOnly: a name resolves to an external address at the
// first lookup and to an internal one at the second (DNS rebinding). The guard looks it
// up once, and connects to the address that it has checked.
func TestGuardConnectsToCheckedAddressOnly(t *testing.T) {
	var reached atomic.Int64
	outside := listen(t, "127.0.0.2:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	listen(t, "127.0.0.1:"+portOf(outside), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))

	dns := &resolver{records: dnsRecords{"rebind": {{"127.0.0.2"}, {"127.0.0.1"}}}}
	g := &Guard{Allow: allow(t, "127.0.0.2"), Resolver: dns}
	client := &http.Client{Transport: g.transport()}
	res, err := client.Get("http://rebind:" + portOf(outside))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if dns.requests.Load() != 1 || reached.Load() != 0 {
		t.Errorf("%d lookups, and %d requests to the internal server", dns.requests.Load(), reached.Load())
	}
	client.CloseIdleConnections()
	if _, err := client.Get("http://rebind:" + portOf(outside)); rota.CodeOf(err) != rota.Denied || reached.Load() != 0 {
		t.Errorf("the second lookup is not checked: %v, %d requests to the internal server", err, reached.Load())
	}
}

func TestGuardTriesNextAddressAfterFailure(t *testing.T) {
	s := listen(t, "127.0.0.2:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	dns := &resolver{records: dnsRecords{"two": {{"127.0.0.3", "127.0.0.2"}}}}
	conn, err := (&Guard{Allow: allow(t, "loopback"), Resolver: dns}).DialContext(t.Context(), "tcp", "two:"+portOf(s))
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.RemoteAddr().String(); got != "127.0.0.2:"+portOf(s) {
		t.Errorf("the guard connected to %s", got)
	}
	_ = conn.Close()
}

func TestGuardAllowsHostByName(t *testing.T) {
	s := listen(t, "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	dns := &resolver{records: dnsRecords{"a.svc.internal": {{"127.0.0.1"}}, "a.svc.internal.evil.com": {{"127.0.0.1"}}}}
	g := &Guard{Allow: allow(t, "*.svc.internal"), Resolver: dns}
	for _, host := range []string{"a.svc.internal", "A.SVC.internal."} {
		conn, err := g.DialContext(t.Context(), "tcp", host+":"+portOf(s))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	mustRefuse(t, g, "a.svc.internal.evil.com:"+portOf(s))
	mustRefuse(t, g, "127.0.0.1:"+portOf(s)) // the list permits the name, not the address
}

func TestGuardDialEndsWithItsContext(t *testing.T) {
	cause := errors.New("stopped by the test")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(cause)
	_, err := (&Guard{Allow: allow(t, "loopback")}).DialContext(ctx, "tcp", "127.0.0.1:9")
	if !errors.Is(err, cause) {
		t.Error(err)
	}
	_, err = (&Guard{Resolver: &resolver{}}).DialContext(t.Context(), "tcp", "missing.example:80")
	var dns *net.DNSError
	if !errors.As(err, &dns) {
		t.Error(err)
	}
}

// TestGuardIgnoresProxyVariables: a proxy of the environment would connect to addresses
// that the guard has not checked.
func TestGuardIgnoresProxyVariables(t *testing.T) {
	var requests atomic.Int64
	proxy := listen(t, "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	t.Setenv("ALL_PROXY", proxy.URL)
	g := &Guard{Resolver: &resolver{records: dnsRecords{"inside": {{"10.0.0.1"}}}}}
	client := &http.Client{Transport: g.transport(), Timeout: 10 * time.Second}
	if _, err := client.Get("http://inside/"); rota.CodeOf(err) != rota.Denied || requests.Load() != 0 {
		t.Errorf("%v; the proxy received %d requests", err, requests.Load())
	}
	if g.transport().Proxy != nil {
		t.Error("the transport has a proxy")
	}
}
