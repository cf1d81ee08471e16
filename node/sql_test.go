package node

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
)

// certificate writes a self-signed certificate for 127.0.0.1, and its key.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rota"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// connect connects to the SQL port of a node.
func (l *testNode) connect(more string) (*pgconn.PgConn, error) {
	return pgconn.Connect(l.t.Context(), "postgres://admin:"+l.token+"@"+l.Addresses()["sql"]+"/rota?"+more)
}

// query executes a statement and returns its only value.
func (l *testNode) query(conn *pgconn.PgConn, statement string) string {
	l.t.Helper()
	results, err := conn.Exec(l.t.Context(), statement).ReadAll()
	if err != nil || len(results) != 1 || len(results[0].Rows) != 1 {
		l.t.Fatalf("%s: %v, %v", statement, results, err)
	}
	return string(results[0].Rows[0][0])
}

func stateOf(err error) string {
	var refusal *pgconn.PgError
	errors.As(err, &refusal)
	if refusal == nil {
		return ""
	}
	return refusal.Code
}

func TestSQLPortShowsJobsOfAPI(t *testing.T) {
	n := start(t, Config{Data: filepath.Join(t.TempDir(), "data"), Register: talk})
	id := n.enqueue(`{"type": "talk"}`)
	n.await(rota.EventJobCompleted, id)
	conn, err := n.connect("sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if got := n.query(conn, "SELECT state FROM sys.job_runs WHERE last_job_uuid = '"+id.String()+"'"); got != "COMPLETED" {
		t.Error(got)
	}
	for _, password := range []string{"wrong", "", n.token + "x"} {
		if _, err := pgconn.Connect(t.Context(), "postgres://admin:"+password+"@"+n.Addresses()["sql"]+"/rota?sslmode=disable"); stateOf(err) != "28P01" {
			t.Errorf("with the password %q: %v", password, err)
		}
	}
	if _, err := pgconn.Connect(t.Context(), "postgres://root:"+n.token+"@"+n.Addresses()["sql"]+"/rota?sslmode=disable"); stateOf(err) != "28P01" {
		t.Errorf("as an unknown user: %v", err)
	}
}

func TestSQLPortUsesTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	n := start(t, Config{Data: filepath.Join(dir, "data"), SQLCert: cert, SQLKey: key, SQLTLS: "require"})
	if _, err := n.connect("sslmode=disable"); stateOf(err) != "28000" {
		t.Errorf("a client without TLS: %v", err)
	}
	conn, err := n.connect("sslmode=verify-full&channel_binding=require&sslrootcert=" + cert)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, encrypted := conn.Conn().(*tls.Conn); !encrypted || n.query(conn, "SELECT 1") != "1" {
		t.Error("the connection is not encrypted")
	}
}

func TestUnusableCertificatesAreRefused(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	for name, config := range map[string]Config{
		"sql_key":                   {SQLCert: cert},
		"sql_cert":                  {SQLKey: key},
		"sql_tls":                   {SQLTLS: "require"},
		"cannot be used":            {SQLCert: key, SQLKey: cert},
		"no such file or directory": {SQLCert: filepath.Join(dir, "missing"), SQLKey: key},
	} {
		config.Data, config.HTTP, config.Logger = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", quiet
		if n, err := Open(t.Context(), config); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
			if n != nil {
				_ = n.Close()
			}
		}
	}
}

func TestVerifierIsReplacedWhenTokenChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), verifierName)
	made, err := openVerifier(path, "the first token")
	if err != nil || !made.Matches("the first token") {
		t.Fatal(err)
	}
	again, err := openVerifier(path, "the first token")
	if err != nil || again.String() != made.String() {
		t.Errorf("the verifier was replaced although the token is the same: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, _ := os.ReadFile(path); strings.Contains(string(text), "token") || !strings.HasPrefix(string(text), "SCRAM-SHA-256$") {
		t.Errorf("the file contains %q", text)
	}
	other, err := openVerifier(path, "another")
	if err != nil || !other.Matches("another") || other.Matches("the first token") {
		t.Errorf("the verifier does not match the new token: %v", err)
	}
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := openVerifier(path, "another"); err != nil || !v.Matches("another") {
		t.Errorf("an invalid verifier was not replaced: %v", err)
	}
}

// TestSQLPortFallsBackToFreePort: only if the address is not configured.
func TestSQLPortFallsBackToFreePort(t *testing.T) {
	first := start(t, Config{Data: filepath.Join(t.TempDir(), "a")})
	second := start(t, Config{Data: filepath.Join(t.TempDir(), "b")})
	if first.Addresses()["sql"] == second.Addresses()["sql"] {
		t.Error("both listen on", first.Addresses()["sql"])
	}
	loaded, err := Load("", func(string) string { return "" }, FlagValue{"data", filepath.Join(t.TempDir(), "loaded")})
	if err != nil {
		t.Fatal(err)
	}
	if third := start(t, loaded); third.Addresses()["sql"] == DefaultSQL && first.Addresses()["sql"] == DefaultSQL {
		t.Error("both listen on", DefaultSQL)
	}
	none := start(t, Config{Data: filepath.Join(t.TempDir(), "none"), SQL: "none"})
	if address, some := none.Addresses()["sql"]; some {
		t.Error("it listens on", address)
	}
	taken := first.Addresses()["sql"]
	n, err := Open(t.Context(), Config{Data: filepath.Join(t.TempDir(), "c"), HTTP: "127.0.0.1:0", SQL: taken, Logger: quiet})
	if rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), "--sql") {
		t.Errorf("a configured address in use: %v", err)
		if n != nil {
			_ = n.Close()
		}
	}
}

func TestStopNotifiesSQLClients(t *testing.T) {
	n := start(t, Config{Data: filepath.Join(t.TempDir(), "data")})
	conn, err := n.connect("sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	n.stop()
	if err := n.wait(); err != nil {
		t.Error(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT 1").ReadAll(); stateOf(err) != "57P01" {
		t.Errorf("the client receives %v", err)
	}
}
