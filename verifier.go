package rota

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// Bounds of a SCRAM verifier. A client computes the iterations at each login, and the server at each login over HTTP.
const (
	verifierMax   = 1 << 10 // bytes
	iterationsMin = 4096    // as in PostgreSQL; fewer make a password easier to guess
	iterationsMax = 100_000
)

// checkVerifier requires the format of pg_authid in PostgreSQL: SCRAM-SHA-256$iterations:salt$stored:server. The error does
// not repeat the value, which may be a password.
func checkVerifier(field, text string) *Error {
	rest, found := strings.CutPrefix(text, "SCRAM-SHA-256$")
	factors, keys, two := strings.Cut(rest, "$")
	count, salt, _ := strings.Cut(factors, ":")
	stored, server, _ := strings.Cut(keys, ":")
	n, err := strconv.Atoi(count)
	isKey := func(text string) bool { return base64Length(text) == sha256.Size }
	if !found || !two || len(text) > verifierMax || err != nil || n < iterationsMin || n > iterationsMax || strconv.Itoa(n) != count ||
		base64Length(salt) < 1 || !isKey(stored) || !isKey(server) {
		return Invalidf(field, "is not a SCRAM verifier; write SCRAM-SHA-256$iterations:salt$stored:server with %d to %d iterations", iterationsMin, iterationsMax)
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
