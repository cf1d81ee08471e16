package node

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/rotajobs/rota"
)

// statusFor sends a request with a Host header to the node.
func (l *testNode) statusFor(path, host string) int {
	l.t.Helper()
	r, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, "http://"+l.Addresses()["http"]+path, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+l.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestLoopbackListenerRefusesForeignHosts(t *testing.T) {
	n := start(t, Config{Data: t.TempDir(), HTTPHosts: "rota.example.org, rota"})
	for _, path := range []string{"/", "/metrics", "/healthz", "/readyz", "/docs", "/openapi.json", "/api/v1/jobs"} {
		if got := n.statusFor(path, "evil.example"); got != http.StatusMisdirectedRequest {
			t.Errorf("%s of a foreign host is answered with %d", path, got)
		}
		for _, host := range []string{n.Addresses()["http"], "localhost", "rota.example.org:443", "ROTA"} {
			if got := n.statusFor(path, host); got != http.StatusOK {
				t.Errorf("%s of %s is answered with %d", path, host, got)
			}
		}
	}
}

// A listener on all addresses is reached by a loopback address too.
func TestLoopbackConnectionToOtherListenerRefusesForeignHosts(t *testing.T) {
	n := startWith(t, Config{Data: t.TempDir()}, func(n *Node) {
		_ = n.listener.Close()
		listener, err := net.Listen("tcp", "0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		n.listener = listener
	})
	for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "localhost": http.StatusOK} {
		if got := n.statusFor("/healthz", host); got != want {
			t.Errorf("a request for %s is answered with %d, want %d", host, got, want)
		}
	}
}

func TestHostsAreCheckedOnOtherAddressesIfNamesAreSet(t *testing.T) {
	for _, test := range []struct {
		local, host string
		names       []string
		want        int
	}{
		{"192.0.2.7", "evil.example", nil, http.StatusOK}, // a name server may know names that the server does not know
		{"192.0.2.7", "evil.example", []string{"rota"}, http.StatusMisdirectedRequest},
		{"192.0.2.7", "rota:7420", []string{"rota"}, http.StatusOK},
		{"192.0.2.7", "localhost:7420", []string{"rota"}, http.StatusOK}, // a port of a container that is published on this machine
		{"192.0.2.7", "192.0.2.7:7420", []string{"rota"}, http.StatusOK},
		{"192.0.2.7", "192.0.2.8:7420", []string{"rota"}, http.StatusMisdirectedRequest},
		{"2001:db8::7", "[2001:db8::7]:7420", []string{"rota"}, http.StatusOK},
		{"127.0.0.1", "evil.example", nil, http.StatusMisdirectedRequest},
		{"127.0.0.1", "192.0.2.7", nil, http.StatusMisdirectedRequest},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = test.host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP(test.local)})))
		w := httptest.NewRecorder()
		checkHost(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), test.names).ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("on %s with the names %v a request for %s is answered with %d, want %d", test.local, test.names, test.host, w.Code, test.want)
		}
	}
}

func TestHTTPHostsNamesTheBadEntry(t *testing.T) {
	for _, list := range []string{"http://rota.example.org", "rota.example.org:443", "a b", ",", "*.example.org"} {
		if err := checkHosts(list); err == nil {
			t.Errorf("%q is accepted", list)
		}
	}
	if err := checkHosts("rota.example.org, 192.0.2.7,::1"); err != nil {
		t.Error(err)
	}
}

// TestServeChecksAndCleansItsHosts compares the names of ServeConfig with those of http_hosts.
func TestServeChecksAndCleansItsHosts(t *testing.T) {
	for _, name := range []string{"rota.example.org:80", "", "http://rota", "a b"} {
		err := Serve(t.Context(), nil, nil, ServeConfig{Data: t.TempDir(), Hosts: []string{"rota", name}})
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != "ServeConfig.Hosts" {
			t.Errorf("%q: %v", name, err)
		}
	}
	names, err := cleanHosts([]string{" Rota.example.org. ", "::1"})
	if err != nil || !slices.Equal(names, []string{"Rota.example.org", "::1"}) {
		t.Error(names, err)
	}
}
