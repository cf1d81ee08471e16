package access

import (
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Length limits of a password, in bytes.
const (
	PasswordMin = 12
	PasswordMax = 1024
)

// CheckPassword refuses passwords that are easy to guess, or that not every client can send.
func CheckPassword(password string) error {
	switch {
	case !utf8.ValidString(password):
		return rota.Invalidf("password", "is not valid UTF-8; use characters in UTF-8")
	case strings.ContainsRune(password, 0):
		return rota.Invalidf("password", "contains a NUL character; remove it")
	case len(password) < PasswordMin:
		return rota.Invalidf("password", "has %d characters; use at least %d characters", utf8.RuneCountInString(password), PasswordMin)
	case len(password) > PasswordMax:
		return rota.Invalidf("password", "has %d bytes; use at most %d", len(password), PasswordMax)
	}
	return nil
}
