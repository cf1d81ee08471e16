package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"strings"
	"testing"
	"time"
)

// stateOf is the state of a connection whose client has a certificate with this subject.
func stateOf(t testing.TB, key *ecdsa.PrivateKey, subject pkix.Name) *tls.ConnectionState {
	t.Helper()
	state, err := newState(key, subject)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// newState is stateOf for a subject that may not be encodable.
func newState(key *ecdsa.PrivateKey, subject pkix.Name) (*tls.ConnectionState, error) {
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: subject, NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, err
	}
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{parsed}, VerifiedChains: [][]*x509.Certificate{{parsed}}}, nil
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestCommonNameHasOneReading(t *testing.T) {
	key := newKey(t)
	for name, want := range map[string]bool{
		"bob": true, "Größe 7": true, "bob@example.org": true, strings.Repeat("x", 255): true,
		"": false, "bob\x00.evil": false, "bob\n": false, " bob": false, "bob\u200b": false, "\u202ebob": false,
		strings.Repeat("x", 10_000): false,
	} {
		if got, ok := CommonName(stateOf(t, key, pkix.Name{CommonName: name})); ok != want || ok && got != name || !ok && got != "" {
			t.Errorf("%.20q: %q, %v", name, got, ok)
		}
	}
	two := pkix.Name{CommonName: "bob", ExtraNames: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "eve"}}}
	two.ExtraNames = append(two.ExtraNames, pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "bob"})
	if got, ok := CommonName(stateOf(t, key, two)); ok {
		t.Errorf("a certificate with two names is one of %q", got)
	}
	unverified := stateOf(t, key, pkix.Name{CommonName: "bob"})
	unverified.VerifiedChains = nil
	for _, state := range []*tls.ConnectionState{nil, {}, unverified, {VerifiedChains: [][]*x509.Certificate{{}}}} {
		if got, ok := CommonName(state); ok {
			t.Errorf("an unverified certificate is one of %q", got)
		}
	}
}

func FuzzCommonName(f *testing.F) {
	key := newKey(f)
	for _, name := range []string{"bob", "", "a\x00b", strings.Repeat("x", 10_000), "Ω", "\xff", "a\u202eb"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		state, err := newState(key, pkix.Name{CommonName: name})
		if err != nil {
			return // no certificate has such a name
		}
		got, ok := CommonName(state)
		if ok && (got != name || strings.ContainsAny(got, "\x00\r\n") || len(got) > commonNameMax) {
			t.Errorf("%q became %q", name, got)
		}
	})
}
