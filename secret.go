package rota

import (
	"encoding/base64"
	"strings"
	"time"
)

// Secret is a value that jobs of one template receive. Only its ciphertext is stored. It has no effect on a template that
// was created later: the store removes it when the definition of the template is dropped or recreated.
type Secret struct {
	Template  string    `wire:"1"`
	Key       string    `wire:"2"`
	Sealed    string    `wire:"3"` // text of the ciphertext, see ParseSealed; empty where it is not shown
	Version   ID        `wire:"4"` // id of the last command that changed it
	CreatedBy string    `wire:"5"`
	CreatedAt time.Time `wire:"6"`
	UpdatedAt time.Time `wire:"7"`
}

// SecretName identifies a secret.
type SecretName struct{ Template, Key string }

// Fingerprint returns the fingerprint of the key that seals the value, "" if its text is malformed.
func (s *Secret) Fingerprint() string {
	fingerprint, _, _ := ParseSealed(s.Sealed)
	return fingerprint
}

// sealOverhead is how much longer a ciphertext is than its value: by the id of the key, the nonce and the tag of AES-GCM.
const sealOverhead = 5 + 12 + 16

// Size returns the length of the value, which that of its ciphertext tells.
func (s *Secret) Size() int {
	encoded := s.Sealed[strings.LastIndexByte(s.Sealed, ':')+1:]
	return max(0, base64.RawURLEncoding.DecodedLen(len(encoded))-sealOverhead)
}

// sealedPrefix begins the text of every ciphertext.
const sealedPrefix = "sealed:v1:"

// FormatSealed returns the text of a ciphertext: sealed:v1:FINGERPRINT:BASE64, where the fingerprint is that of the key
// and the encoding is URL-safe without padding.
func FormatSealed(fingerprint string, ciphertext []byte) string {
	return sealedPrefix + fingerprint + ":" + base64.RawURLEncoding.EncodeToString(ciphertext)
}

// IsSealed reports whether a text begins like one of FormatSealed.
func IsSealed(text string) bool { return strings.HasPrefix(text, sealedPrefix) }

// ParseSealed is the reverse of FormatSealed. Errors do not contain the text.
func ParseSealed(text string) (fingerprint string, ciphertext []byte, err error) {
	rest, is := strings.CutPrefix(text, sealedPrefix)
	fingerprint, encoded, cut := strings.Cut(rest, ":")
	switch {
	case len(text) > SealedMax:
		return "", nil, Invalidf("sealed", "has %d bytes; at most %d are allowed", len(text), SealedMax)
	case !is || !cut:
		return "", nil, Invalidf("sealed", "is not a sealed value, which begins with %s", sealedPrefix)
	}
	if err := checkFingerprint("sealed", fingerprint); err != nil {
		return "", nil, err
	}
	ciphertext, failed := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if failed != nil || len(ciphertext) == 0 || strings.ContainsAny(encoded, "\r\n") {
		return "", nil, Invalidf("sealed", "contains something other than base64 for URLs without padding after its fingerprint")
	}
	return fingerprint, ciphertext, nil
}

// checkFingerprint requires 16 lower-case hexadecimal digits.
func checkFingerprint(field, text string) *Error {
	if len(text) != FingerprintLen || strings.Trim(text, "0123456789abcdef") != "" {
		return Invalidf(field, "has a fingerprint that is not %d lower-case hexadecimal digits", FingerprintLen)
	}
	return nil
}

// CheckSecretKey requires a name that is also one of an environment variable.
func CheckSecretKey(field, key string) error { return asError(checkSecretKey(field, key)) }

func checkSecretKey(field, key string) *Error {
	switch {
	case key == "":
		return Invalidf(field, "is empty")
	case len(key) > SecretKeyMax:
		return Invalidf(field, "has %d bytes; at most %d are allowed", len(key), SecretKeyMax)
	}
	for i := range len(key) {
		c := key[i]
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return Invalidf(field, "contains characters other than letters, digits and _, or begins with a digit")
		}
	}
	return nil
}

// SecretState says which keys a store with secrets needs.
type SecretState struct {
	Primary string   // fingerprint of the key that seals new values; empty: no value was ever sealed
	Needed  []string // sorted fingerprints of the keys that seal the stored values, of webhooks too; empty: there are none
	Plain   int      // secrets of webhooks that no key seals
}

// SecretQuery selects secrets by template and key.
type SecretQuery struct {
	After       SecretName // lists what sorts after this one
	Template    string     // only of this template; empty: all
	Fingerprint string     // only those that another key than this one seals; empty: all
	Limit       int        // at most PageMax; 0 means 100
}

// Validate checks the query.
func (q *SecretQuery) Validate() error {
	err := first(checkUTF8("after", q.After.Template), checkUTF8("after", q.After.Key), checkName("template", q.Template, false), checkInt("limit", q.Limit, 0, PageMax))
	if err == nil && q.Fingerprint != "" {
		err = checkFingerprint("fingerprint", q.Fingerprint)
	}
	return asError(err)
}
