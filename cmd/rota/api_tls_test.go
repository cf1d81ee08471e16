package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a certificate that signs itself, and its key.
func writeCertificate(t *testing.T, dir string, addresses ...net.IP) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rota"}, IPAddresses: addresses, DNSNames: []string{"rota.example.org"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: raw}, key: {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A server on this machine is known by the certificate that it has written into its data directory. Any other server needs a
// known authority and the right name.
func TestCommandsUseTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, net.IPv4(127, 0, 0, 1))
	s := startServer(t, "--http-cert", cert, "--http-key", key)
	plain := startServer(t)
	s.must("job create noop --wait")
	if out := s.must("sql 'SELECT 1 AS one'"); !strings.Contains(out, "1 row") {
		t.Error(out)
	}
	address := readAddressFile(s.data)
	secure, other := address.url(), strings.TrimPrefix(readAddressFile(plain.data).url(), "http://")
	if out := s.must("health"); !strings.Contains(out, "ok https://") {
		t.Error(out)
	}
	s.must("job list --url " + secure + " --ca " + cert)
	for line, want := range map[string]string{
		"job list --url " + secure:                                             "hint: name the file of its authority with --ca",
		"job list --url http://" + address.HTTP:                                "hint: use a URL that begins with https://",
		"health --url http://" + address.HTTP:                                  "hint: use a URL that begins with https://",
		"job list --url https://" + other:                                      "hint: use a URL that begins with http://",
		"job list --ca " + cert + " --url " + withHost(t, secure, "localhost"): "is for other names",
		"job list --ca " + key:                                                 "has no certificate in PEM form",
		"job list --ca missing.crt":                                            "--ca cannot be read",
		"job list --client-cert " + cert:                                       "--client-key is missing; --client-cert is set",
	} {
		if out, errs, code := s.run(line); code == exitDone || !strings.Contains(errs, want) {
			t.Errorf("rota %s exits with %d: %s%s", line, code, out, errs)
		}
	}
	if _, errs, code := s.runWith("job list --url "+secure, terminal{}, map[string]string{"ROTA_CA": cert}); code != exitDone {
		t.Errorf("ROTA_CA: %s", errs)
	}
}

func withHost(t *testing.T, address, host string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	return "https://" + net.JoinHostPort(host, port)
}

// The certificate of another server is refused, although the name is not checked on this machine.
func TestCommandRefusesAnotherCertificateOnThisMachine(t *testing.T) {
	cert, key := writeCertificate(t, t.TempDir())
	s := startServer(t, "--http-cert", cert, "--http-key", key)
	s.must("job list") // the certificate does not name 127.0.0.1
	foreign, _ := writeCertificate(t, t.TempDir())
	file := filepath.Join(s.data, "rota.addr")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), cert, foreign, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := s.run("job list"); code != exitUnavailable || !strings.Contains(errs, "another certificate") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestServeNeedsTLSOrInsecureBeyondLoopback(t *testing.T) {
	s := &testServer{t: t, data: filepath.Join(t.TempDir(), "data")}
	cmd := exec.Command(os.Args[0], "serve", "--data", s.data, "--http", "0.0.0.0:0", "--sql", "none")
	cmd.Env = []string{"ROTA_TEST_PROGRAM=1"}
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(out), "insecure: true") {
		t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), out)
	}
	s.start("--http", "0.0.0.0:0", "--insecure")
	s.must("job list")
	if !strings.Contains(s.errs.String(), "insecure is set") {
		t.Errorf("no warning:\n%s", s.errs)
	}
}
