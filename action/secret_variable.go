package action

import (
	"bytes"
	"strings"

	"github.com/rotajobs/rota"
)

// CheckSecretVariable refuses a secret that no program can have as an environment variable: each run of its template would fail.
func CheckSecretVariable(name string, value []byte) error {
	hint := "give the secret another key"
	switch {
	case strings.HasPrefix(strings.ToUpper(name), "ROTA_"):
		return &rota.Error{Code: rota.Invalid, Field: "key", Reason: name + " cannot be a variable of a program: names with ROTA_ are reserved for Rota", Hint: hint}
	case isLoaderVariable(name):
		return &rota.Error{Code: rota.Invalid, Field: "key", Reason: name + " cannot be a variable of a program: it decides what code a program loads", Hint: hint}
	case bytes.ContainsRune(value, 0):
		return &rota.Error{
			Code: rota.Invalid, Field: "value", Reason: "contains a NUL character, which no environment variable can contain",
			Hint: "encode it, for example as base64, and decode it in the program",
		}
	}
	return nil
}
