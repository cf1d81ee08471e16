package node

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true})
	return a
}

// sign creates a certificate. The first one signs itself.
func (a *authority) sign(form *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.next++
	form.SerialNumber, form.NotBefore, form.NotAfter = big.NewInt(a.next), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = form, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// write writes a certificate for 127.0.0.1 and a client of this name, its key, and the certificate of the authority.
func (a *authority) write(dir, name string) (cert, key, ca string) {
	a.t.Helper()
	made, secret := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	})
	private, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		a.t.Fatal(err)
	}
	cert, key, ca = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, "ca.crt")
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: made.Raw}, key: {Type: "EC PRIVATE KEY", Bytes: private}, ca: {Type: "CERTIFICATE", Bytes: a.cert.Raw},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return cert, key, ca
}

// client trusts the authority, and has a certificate of its own if files are given.
func (a *authority) client(files ...string) *http.Client {
	a.t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AddCert(a.cert)
	if len(files) > 0 {
		own, err := tls.LoadX509KeyPair(files[0], files[1])
		if err != nil {
			a.t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	a.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (l *testNode) stats(client *http.Client) (*http.Response, error) {
	request, err := http.NewRequestWithContext(l.t.Context(), "GET", l.Scheme()+"://"+l.Addresses()["http"]+"/api/v1/stats", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+l.token)
	response, err := client.Do(request)
	if err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	return response, err
}

func TestAPIUsesTLS(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	cert, key, _ := a.write(dir, "server")
	n := start(t, Config{Data: filepath.Join(dir, "data"), HTTPCert: cert, HTTPKey: key})
	response, err := n.stats(a.client())
	if err != nil || response.StatusCode != 200 || response.ProtoMajor != 2 {
		t.Fatalf("%v, %v", response, err)
	}
	if _, err := n.stats(&http.Client{Transport: &http.Transport{}}); err == nil {
		t.Error("a client that does not know the authority accepts the server")
	}
	old := a.client()
	old.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS11
	if _, err := n.stats(old); err == nil {
		t.Error("the server accepts TLS 1.1")
	}
	plain, err := http.Get("http://" + n.Addresses()["http"] + "/healthz")
	if err != nil || plain.StatusCode != 400 {
		t.Errorf("a request without TLS: %v, %v", plain, err)
	}
	text, err := os.ReadFile(n.path(addrName))
	var written addressFile
	if err != nil || json.Unmarshal(text, &written) != nil || !written.HTTPS || written.HTTPCert != cert || written.HTTP != n.Addresses()["http"] {
		t.Errorf("the address file has %s, %v", text, err)
	}
}

func TestClientCertificateIsVerifiedOrRequired(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	cert, key, ca := a.write(filepath.Join(dir, "server"), "server")
	ownCert, ownKey, _ := a.write(filepath.Join(dir, "client"), "bob")
	foreignCert, foreignKey, _ := newAuthority(t).write(filepath.Join(dir, "foreign"), "bob")
	for mode, withoutFails := range map[string]bool{allow: false, require: true} {
		n := start(t, Config{
			Data: filepath.Join(dir, mode), HTTPCert: cert, HTTPKey: key, HTTPClientCA: ca, HTTPClientCert: mode,
			SQLCert: cert, SQLKey: key, SQLClientCA: ca, SQLClientCert: mode,
		})
		if _, err := n.stats(a.client()); (err != nil) != withoutFails {
			t.Errorf("%s, no certificate: %v", mode, err)
		}
		if response, err := n.stats(a.client(ownCert, ownKey)); err != nil || response.StatusCode != 200 {
			t.Errorf("%s, a certificate: %v", mode, err)
		}
		if _, err := n.stats(a.client(foreignCert, foreignKey)); err == nil && withoutFails { // TLS 1.3 clients send only certificates of a known authority
			t.Errorf("%s, a certificate of another authority is accepted", mode)
		}
		conn, err := n.connect("sslmode=verify-full&sslrootcert=" + ca)
		if (err != nil) != withoutFails {
			t.Errorf("%s, SQL, no certificate: %v", mode, err)
		}
		if err == nil {
			_ = conn.Close(context.Background())
		}
		conn, err = n.connect("sslmode=verify-full&sslrootcert=" + ca + "&sslcert=" + ownCert + "&sslkey=" + ownKey)
		if err != nil {
			t.Errorf("%s, SQL, a certificate: %v", mode, err)
			continue
		}
		_ = conn.Close(context.Background())
	}
}

// serverName is the common name of the certificate that a server uses for a new connection.
func serverName(t *testing.T, config *tls.Config) string {
	t.Helper()
	used, err := config.GetConfigForClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(used.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf.Subject.CommonName
}

func TestChangedTLSFilesAreUsedAndBrokenOnesAreNot(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	a.write(filepath.Join(dir, "1"), "first")
	a.write(filepath.Join(dir, "2"), "second")
	link := filepath.Join(dir, "current") // as Kubernetes and certbot change files
	point := func(to string) {
		t.Helper()
		if err := os.Symlink(to, link+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link+".new", link); err != nil {
			t.Fatal(err)
		}
	}
	point("1")
	var log bytes.Buffer
	now := time.Now()
	files := tlsFiles{port: "http", cert: filepath.Join(link, "tls.crt"), key: filepath.Join(link, "tls.key"), clientCA: filepath.Join(link, "ca.crt")}
	config, err := files.openAt(slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string, logged int) {
		t.Helper()
		for range 3 {
			now = now.Add(2 * reloadEvery)
			if got := serverName(t, config); got != want {
				t.Errorf("the certificate is that of %s, want %s", got, want)
			}
		}
		if got := strings.Count(log.String(), "level=ERROR"); got != logged {
			t.Errorf("%d errors are logged, want %d:\n%s", got, logged, log.String())
		}
	}
	expect("first", 0)
	point("2")
	if got := serverName(t, config); got != "first" {
		t.Error("the files are read more than once a second")
	}
	expect("second", 0)
	point("missing")
	expect("second", 1)
	key := filepath.Join(dir, "2", "tls.key")
	secret, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(key, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secret[:len(secret)/2])
	point("2")
	expect("second", 2)
	write(nil)
	expect("second", 3)
	point("1")
	expect("first", 3)
	write(secret)
	point("2")
	expect("second", 3)
}

// A certificate is replaced while connections are open. They continue, and new ones are bound to the new certificate.
func TestReplacedCertificateKeepsConnections(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	cert, key, ca := a.write(dir, "first")
	n := start(t, Config{Data: filepath.Join(dir, "data"), HTTPCert: cert, HTTPKey: key, SQLCert: cert, SQLKey: key})
	const options = "sslmode=verify-full&channel_binding=require&sslrootcert="
	first, err := n.connect(options + ca)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close(context.Background())
	kept := a.client()
	if _, err := n.stats(kept); err != nil {
		t.Fatal(err)
	}
	a.write(dir, "second")
	for deadline := time.Now().Add(waitMax); ; time.Sleep(10 * time.Millisecond) {
		response, err := n.stats(a.client())
		if err != nil {
			t.Fatal(err)
		}
		if response.TLS.PeerCertificates[0].Subject.CommonName == "second" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the new certificate is not used")
		}
	}
	second, err := n.connect(options + ca)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close(context.Background())
	if n.query(first, "SELECT 1") != "1" || n.query(second, "SELECT 1") != "1" {
		t.Error("a connection does not answer")
	}
	if response, err := n.stats(kept); err != nil || response.TLS.PeerCertificates[0].Subject.CommonName != "first" {
		t.Errorf("the open connection was closed: %v", err)
	}
}

func TestPortsWithoutTLSBeyondLoopbackAreRefused(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	cert, key, _ := a.write(dir, "server")
	for _, test := range []struct {
		name   string
		config Config
		field  string // of the error; empty: none
		warned int    // ports
	}{
		{"IPv4", Config{HTTP: "0.0.0.0:0"}, "http", 0},
		{"IPv6", Config{HTTP: "[::]:0"}, "http", 0},
		{"no host", Config{HTTP: ":0"}, "http", 0},
		{"SQL", Config{SQL: "0.0.0.0:0"}, "sql", 0},
		{"SQL, no host", Config{SQL: ":0"}, "sql", 0},
		{"TLS on the other port", Config{HTTP: ":0", SQLCert: cert, SQLKey: key}, "http", 0},
		{"TLS on the other port", Config{SQL: ":0", HTTPCert: cert, HTTPKey: key}, "sql", 0},
		{"loopback", Config{HTTP: "localhost:0", SQL: "127.0.0.1:0"}, "", 0},
		{"TLS", Config{HTTP: "0.0.0.0:0", HTTPCert: cert, HTTPKey: key, SQL: "0.0.0.0:0", SQLCert: cert, SQLKey: key}, "", 0},
		{"insecure", Config{HTTP: "0.0.0.0:0", SQL: "0.0.0.0:0", Insecure: true}, "", 2},
		{"insecure with TLS for those who want it", Config{SQL: "0.0.0.0:0", SQLCert: cert, SQLKey: key, Insecure: true}, "", 1},
		{"insecure, but TLS is required", Config{SQL: "0.0.0.0:0", SQLCert: cert, SQLKey: key, SQLTLS: require, Insecure: true}, "", 0},
	} {
		var log bytes.Buffer
		config := test.config
		if config.HTTP == "" {
			config.HTTP = "127.0.0.1:0"
		}
		if config.SQL == "" {
			config.SQL = "127.0.0.1:0"
		}
		config.Data, config.Logger = filepath.Join(t.TempDir(), "data"), slog.New(slog.NewTextHandler(&log, nil))
		n, err := Open(t.Context(), config)
		if test.field != "" {
			refusal, _ := err.(*rota.Error)
			if refusal == nil || refusal.Code != rota.Invalid || refusal.Field != test.field || !strings.Contains(refusal.Hint, "insecure: true") {
				t.Errorf("%s: %v", test.name, err)
			}
			if _, err := os.Stat(config.Data); err == nil {
				t.Errorf("%s: the data directory was created", test.name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if warnings := strings.Count(log.String(), "insecure is set"); warnings != test.warned {
			t.Errorf("%s: %d warnings, want %d:\n%s", test.name, warnings, test.warned, log.String())
		}
		if n.requireSQLTLS() != (test.name == "TLS" || config.SQLTLS == require) {
			t.Errorf("%s: the SQL port requires TLS: %v", test.name, n.requireSQLTLS())
		}
		_ = n.Close()
	}
}

func TestLostAdminTokenIsReplacedByDeletingTheFile(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	n := start(t, Config{Data: data})
	old := n.token
	n.stopCleanly()
	if err := os.Remove(filepath.Join(data, tokenName)); err != nil {
		t.Fatal(err)
	}
	n = start(t, Config{Data: data})
	if n.token == old {
		t.Fatal("the token is the same")
	}
	if response, err := n.stats(http.DefaultClient); err != nil || response.StatusCode != 200 {
		t.Errorf("the new token: %v, %v", response, err)
	}
	conn, err := n.connect("sslmode=disable")
	if err != nil {
		t.Fatalf("the new token on the SQL port: %v", err)
	}
	_ = conn.Close(context.Background())
	n.token = old
	if response, err := n.stats(http.DefaultClient); err != nil || response.StatusCode != 401 {
		t.Errorf("the old token: %v, %v", response, err)
	}
	if _, err := n.connect("sslmode=disable"); stateOf(err) != "28P01" {
		t.Errorf("the old token on the SQL port: %v", err)
	}
}
