package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// newTestAuthenticator accepts one token, and the certificates of bob.
func newTestAuthenticator() *authenticator {
	now := time.Now()
	a := newAuthenticator(&Config{Token: "the-right-token-of-the-admin", Logins: access.NewLoginThrottle(func() time.Time { return now })})
	a.directory = onlyBob{}
	return a
}

// onlyBob knows no token, and the certificates of bob.
type onlyBob struct{}

func (onlyBob) ByToken(context.Context, string) (access.Identity, error) {
	return access.Identity{}, access.ErrWrongToken
}

func (onlyBob) ByCertificate(_ context.Context, name string) (access.Identity, error) {
	if name != "bob" {
		return access.Identity{}, &rota.Error{Code: rota.Denied}
	}
	return access.Identity{User: "user bob"}, nil
}

func (onlyBob) LoginFailed(string, string) {}

func newTestRequest(method, from, token string) *http.Request {
	r := httptest.NewRequest(method, "https://rota.example.org/api/v1/jobs", nil)
	r.RemoteAddr, r.TLS = from, nil
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func statusOf(_ access.Identity, r *refusal) int {
	if r == nil {
		return http.StatusOK
	}
	return r.problem.Status
}

func TestWrongTokensFromManyAddressesSlowNobodyElse(t *testing.T) {
	a := newTestAuthenticator()
	for n := range 1000 {
		from := fmt.Sprintf("10.0.%d.%d:99", n>>8, n&255)
		for i := range 12 {
			want := http.StatusUnauthorized
			if i >= 10 {
				want = http.StatusTooManyRequests
			}
			if got := statusOf(a.identity(newTestRequest("GET", from, "wrong"))); got != want {
				t.Fatalf("wrong token %d from %s: %d", i, from, got)
			}
		}
	}
	for _, from := range []string{"10.0.0.7:99", "192.0.2.7:1"} {
		if got := statusOf(a.identity(newTestRequest("GET", from, "the-right-token-of-the-admin"))); got != http.StatusOK {
			t.Errorf("the right token from %s: %d", from, got)
		}
	}
	for from, token := range map[string]string{"10.0.0.7:99": "rota_k3y_secret", "192.0.2.7:1": "wrong"} {
		if got := statusOf(a.identity(newTestRequest("GET", from, token))); got != http.StatusUnauthorized {
			t.Errorf("the first failure of %s from %s: %d", token, from, got)
		}
	}
}

func TestWrongTokenIsCountedByItsID(t *testing.T) {
	for token, want := range map[string]string{
		"wrong": "admin", "": "admin", "rota_k3y_secret": "rota_k3y", "rota_k3y": "rota_k3y", "rota_": "rota_", "rota__": "rota_", "ROTA_k3y_x": "admin",
	} {
		if got := loginName(token); got != want {
			t.Errorf("%q is counted as %q, want %q", token, got, want)
		}
	}
}

// verified is the state of a connection with a client certificate.
func verified(name string) *tls.ConnectionState {
	subject := pkix.Name{Names: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: name}}}
	return &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{Subject: subject}}}}
}

func TestCertificateLogsInWithoutToken(t *testing.T) {
	for _, test := range []struct {
		name   string
		state  *tls.ConnectionState
		token  string
		site   string // Sec-Fetch-Site
		actor  string
		status int
	}{
		{"certificate", verified("bob"), "", "", "user bob", 200},
		{"certificate and token", verified("bob"), "the-right-token-of-the-admin", "", "admin", 200},
		{"certificate and wrong token", verified("bob"), "wrong", "", "", 401},
		{"another name", verified("eve"), "", "", "", 401},
		{"odd name", verified("bob\x00"), "", "", "", 401},
		{"not verified", &tls.ConnectionState{}, "", "", "", 401},
		{"no TLS", nil, "", "", "", 401},
		{"a foreign page", verified("bob"), "", "cross-site", "", 403},
		{"a foreign page that knows the token", verified("bob"), "the-right-token-of-the-admin", "cross-site", "admin", 200},
		{"a page of this server", verified("bob"), "", "same-origin", "user bob", 200},
	} {
		r := newTestRequest("POST", "192.0.2.7:1", test.token)
		r.TLS = test.state
		r.Header.Set("Sec-Fetch-Site", test.site)
		identity, refused := newTestAuthenticator().identity(r)
		if identity.User != test.actor || statusOf(identity, refused) != test.status {
			t.Errorf("%s: %q, %d", test.name, identity.User, statusOf(identity, refused))
		}
	}
}

func TestUserRateLimitsEachUser(t *testing.T) {
	now := time.Now()
	a := &server{Config: Config{UserRate: access.NewRateLimiter(rota.Rate{Count: 1, Per: 10 * time.Second}, func() time.Time { return now })}}
	w := httptest.NewRecorder()
	if !a.allowUser(w, "bob") || !a.allowUser(w, "eve") || a.allowUser(w, "bob") {
		t.Error("the second request of bob is not the only one that is refused")
	}
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "10" {
		t.Errorf("%d, Retry-After %s", w.Code, w.Header().Get("Retry-After"))
	}
}
