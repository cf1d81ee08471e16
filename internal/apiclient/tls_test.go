package apiclient

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

func TestErrorsOfTLSNameTheRemedy(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})
	secure, plain, strict := httptest.NewTLSServer(handler), httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	strict.StartTLS()
	for _, s := range []*httptest.Server{secure, plain, strict} {
		defer s.Close()
	}
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	known := &tls.Config{RootCAs: roots}
	for _, test := range []struct {
		name, address string
		config        *tls.Config
		hint          string // empty: an answer
	}{
		{"right", secure.URL, known, ""},
		{"plain", plain.URL, nil, ""},
		{"http for a server with TLS", strings.Replace(secure.URL, "https", "http", 1), nil, "begins with https://"},
		{"https for a server without TLS", strings.Replace(plain.URL, "http", "https", 1), nil, "begins with http://"},
		{"unknown authority", secure.URL, nil, "RootCAs"},
		{"another name", secure.URL, &tls.Config{RootCAs: roots, ServerName: "elsewhere.example.org"}, "a name or an address"},
		{"no certificate", strict.URL, known, "Certificates of Config.TLS"},
	} {
		client := WithTLS(&http.Client{Transport: &http.Transport{}}, test.config)
		c := &Caller{Client: Client{HTTP: WithoutRedirects(client), Address: test.address, Token: "secret"}}
		var answer struct{}
		err := c.Call(t.Context(), "stats", Request{Method: http.MethodGet, Path: "/stats"}, &answer)
		if (test.hint == "") != (err == nil) || err != nil && (rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), test.hint)) {
			t.Errorf("%s: %v", test.name, err)
		}
		client.CloseIdleConnections()
	}
}

func TestTLSConfigThatTrustsEveryServerIsRefused(t *testing.T) {
	check := func(tls.ConnectionState) error { return nil }
	for _, config := range []*tls.Config{nil, {}, {InsecureSkipVerify: true, VerifyConnection: check}} {
		if err := CheckTLS(config); err != nil {
			t.Error(err)
		}
	}
	if err := CheckTLS(&tls.Config{InsecureSkipVerify: true}); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("the error is %v", err)
	}
	if CheckToken("", nil) == nil || CheckToken("", &tls.Config{}) == nil || CheckToken("", &tls.Config{Certificates: []tls.Certificate{{}}}) != nil {
		t.Error("a token is not required without a certificate, or is required with one")
	}
}
