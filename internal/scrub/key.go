package scrub

import (
	"slices"
	"strings"
	"unicode"
)

// secretParts name a secret anywhere in a key, without regard to
// case and separators: api_key, apiKey, X-API-KEY and MYAPIKEY are one.
var secretParts = []string{
	"password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "authorization", "cookie", "credential",
	"privatekey", "accesskey", "signingkey", "encryptionkey", "masterkey", "sessionid", "connectionstring", "bearer",
}

// secretWords are too short for that: author is not auth, and wordsnippet is not a DSN.
var secretWords = []string{"auth", "pass", "pwd", "dsn", "otp", "jwt", "csrf", "xsrf"}

// secretAffixes name a secret also at either end of a key, as in sentrydsn or MYSQLPWD.
var secretAffixes = []string{"dsn", "pwd", "jwt"}

// Key reports whether the value of a key is a secret.
func Key(key string) bool {
	flat := flatten(key)
	for _, part := range secretParts {
		if strings.Contains(flat, part) {
			return true
		}
	}
	for _, end := range secretAffixes {
		if strings.HasPrefix(flat, end) || strings.HasSuffix(flat, end) {
			return true
		}
	}
	for _, word := range words(key) {
		if slices.Contains(secretWords, word) {
			return true
		}
	}
	return false
}

// counts reports whether a number under the key is a count, as in
// max_tokens, a parameter of language models.
func counts(key string) bool {
	return slices.Contains(words(key), "tokens")
}

// flatten keeps the letters and digits of a key, in lower case.
func flatten(key string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// words splits a key at separators and where an upper-case letter follows a lower-case one.
func words(key string) []string {
	var b strings.Builder
	small := false
	for _, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && small:
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
