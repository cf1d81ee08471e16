package httpapi

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestSecretsGoOverTLSOrLoopbackOnly(t *testing.T) {
	for _, c := range []struct {
		remote, local string
		tls, want     bool
	}{
		{"127.0.0.1:5000", "127.0.0.1", false, true},
		{"[::1]:5000", "::1", false, true},
		{"10.0.0.2:5000", "10.0.0.1", false, false},
		{"127.0.0.1:5000", "10.0.0.1", false, false},
		{"10.0.0.2:5000", "127.0.0.1", false, false},
		{"10.0.0.2:5000", "10.0.0.1", true, true},
		{"@", "127.0.0.1", false, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.RemoteAddr = c.remote
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(c.local)}))
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := secure(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
