package client_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/client"
)

func TestDialUsesTLS(t *testing.T) {
	inner := newHandler(t, openFile(t))
	secure := httptest.NewTLSServer(inner.Config.Handler)
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	dialed, err := client.DialWith(secure.URL, token, client.Config{TLS: &tls.Config{RootCAs: roots}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dialed.Job(t.Context(), rota.NewID()); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("a read over TLS: %v", err)
	}
	for url, want := range map[string]string{
		secure.URL: "RootCAs", strings.Replace(secure.URL, "https", "http", 1): "https://", strings.Replace(inner.URL, "http", "https", 1): "http://",
	} {
		dialed, err := client.Dial(url, token)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dialed.Job(t.Context(), rota.NewID()); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestDialRefusesUnusableTLS(t *testing.T) {
	for name, config := range map[string]client.Config{
		"both":               {HTTP: http.DefaultClient, TLS: &tls.Config{}},
		"trusts all servers": {TLS: &tls.Config{InsecureSkipVerify: true}},
	} {
		if _, err := client.DialWith("https://127.0.0.1:7420", token, config); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
