package node

import (
	"net"
	"net/http"
	"testing"
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

func TestOtherListenersAcceptAnyHost(t *testing.T) {
	n := startWith(t, Config{Data: t.TempDir()}, func(n *Node) {
		_ = n.listener.Close()
		listener, err := net.Listen("tcp", "0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		n.listener = listener
	})
	_, port, _ := net.SplitHostPort(n.Addresses()["http"])
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/healthz", nil)
	r.Host = "rota.example.org"
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("answered with %d", response.StatusCode)
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
