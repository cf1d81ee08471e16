package rota

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// What a SCRAM verifier has. All have the same: the exchange with an unknown user must not differ from that with a known one.
const (
	verifierMax        = 1 << 10 // bytes
	verifierIterations = "4096"  // as psql's \password and drivers use
	verifierSalt       = 16      // bytes
)

// checkVerifier requires the format of pg_authid in PostgreSQL: SCRAM-SHA-256$iterations:salt$stored:server. The error does
// not repeat the value, which may be a password.
func checkVerifier(field, text string) *Error {
	rest, found := strings.CutPrefix(text, "SCRAM-SHA-256$")
	factors, keys, two := strings.Cut(rest, "$")
	count, salt, _ := strings.Cut(factors, ":")
	stored, server, _ := strings.Cut(keys, ":")
	isKey := func(text string) bool { return base64Length(text) == sha256.Size }
	if !found || !two || len(text) > verifierMax || count != verifierIterations ||
		base64Length(salt) != verifierSalt || !isKey(stored) || !isKey(server) {
		return Invalidf(field, "is not a SCRAM verifier; write SCRAM-SHA-256$%s:salt$stored:server with a salt of %d bytes", verifierIterations, verifierSalt)
	}
	return nil
}

// base64Length returns the number of bytes that a base64 text stands for, -1 if it is not base64.
func base64Length(text string) int {
	if strings.ContainsAny(text, "\r\n") { // the decoder ignores them
		return -1
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return -1
	}
	return len(raw)
}

// checkCertificate checks the common name of a certificate.
func checkCertificate(field, name string) *Error { return checkText(field, name, NameMax) }
