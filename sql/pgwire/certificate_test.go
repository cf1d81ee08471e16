package pgwire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota/access"
)

// authority issues client certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

// issue creates the certificate of a client.
func (a *authority) issue(t testing.TB, name string) tls.Certificate {
	t.Helper()
	own, err := a.tryIssue(name)
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// tryIssue is issue for a name that may not be encodable.
func (a *authority) tryIssue(name string) (tls.Certificate, error) {
	form := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	raw, err := x509.CreateCertificate(rand.Reader, form, a.cert, &key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, err
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// withClientCA asks clients for a certificate, which logs in the user of its name.
func withClientCA(t testing.TB, a *authority, auth tls.ClientAuthType) func(*Config) {
	server := certificate(t, false)
	return func(c *Config) {
		c.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: a.pool(), ClientAuth: auth}, nil
		}}
		c.CertificateUser = func(_ context.Context, name string) (access.Identity, error) { return access.Identity{User: name}, nil }
	}
}

// connectWith logs in over TLS with a client certificate.
func (s *testServer) connectWith(t testing.TB, user, password string, own ...tls.Certificate) error {
	t.Helper()
	config, err := pgconn.ParseConfig("postgres://" + s.addr + "/rota?sslmode=require&channel_binding=prefer")
	if err != nil {
		t.Fatal(err)
	}
	config.User, config.Password = user, password
	config.TLSConfig.Certificates = own
	conn, err := pgconn.ConnectConfig(context.Background(), config)
	if err == nil {
		_ = conn.Close(context.Background())
	}
	return err
}

func TestClientCertificateLogsItsUserIn(t *testing.T) {
	a := newAuthority(t)
	s := newTestServer(t, withClientCA(t, a, tls.VerifyClientCertIfGiven))
	strict := newTestServer(t, withClientCA(t, a, tls.RequireAndVerifyClientCert))
	bob, foreign := a.issue(t, "bob"), newAuthority(t).issue(t, "bob")
	for _, test := range []struct {
		name           string
		site           *testServer
		user, password string
		own            []tls.Certificate
		want           string // part of the error; empty: none
	}{
		{"his own", s, "bob", "", []tls.Certificate{bob}, ""},
		{"somebody else's", s, "admin", "", []tls.Certificate{bob}, "28P01"},
		{"somebody else's, with a password", s, "admin", password, []tls.Certificate{bob}, ""},
		{"none", s, "bob", "", nil, "28P01"},
		{"none, with a password", s, "admin", password, nil, ""},
		{"of another authority", s, "bob", "", []tls.Certificate{foreign}, "tls:"},
		{"required", strict, "bob", "", []tls.Certificate{bob}, ""},
		{"required and missing", strict, "admin", password, nil, "certificate required"},
	} {
		err := test.site.connectWith(t, test.user, test.password, test.own...)
		if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// A configuration that chooses its certificate for each connection offers channel binding, too.
func TestChannelBindingWorksWithChosenCertificates(t *testing.T) {
	first, second := certificate(t, false), certificate(t, false)
	for name, config := range map[string]*tls.Config{
		"GetCertificate": {GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &second, nil }, Certificates: []tls.Certificate{first}},
		"none chosen":    {GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }, Certificates: []tls.Certificate{first}},
		"GetConfigForClient": {GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return &tls.Config{Certificates: []tls.Certificate{second}}, nil
		}},
		"no configuration chosen": {Certificates: []tls.Certificate{first}, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, nil }},
	} {
		s := newTestServer(t, func(c *Config) { c.TLS = config })
		conn, err := pgconn.Connect(context.Background(), strings.Replace(s.url("&channel_binding=require"), "sslmode=disable", "sslmode=require", 1))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = conn.Close(context.Background())
	}
}

// FuzzClientCertificate logs in with certificates of any name. Only the user of exactly that name is logged in.
func FuzzClientCertificate(f *testing.F) {
	a := newAuthority(f)
	s := newTestServer(f, withClientCA(f, a, tls.VerifyClientCertIfGiven))
	f.Add("bob", "bob")
	f.Add("bob", "bob\x00")
	f.Add("", "x")
	f.Add("admin", "admin ")
	f.Add(strings.Repeat("x", 10_000), strings.Repeat("x", 10_000))
	f.Add("Ωmega", "Ωmega")
	f.Fuzz(func(t *testing.T, name, user string) {
		own, err := a.tryIssue(name)
		if err != nil || strings.ContainsRune(user, 0) {
			return // no certificate has such a name, or the startup packet would end the user at NUL
		}
		if err := s.connectWith(t, user, "", own); err == nil && name != user {
			t.Errorf("the certificate of %q logged in %q", name, user)
		}
	})
}
