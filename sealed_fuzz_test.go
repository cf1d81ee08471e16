package rota_test

import (
	"testing"

	"github.com/rotajobs/rota"
)

func FuzzParseSealed(f *testing.F) {
	f.Add("sealed:v1:0123456789abcdef:AAECAwQ")
	f.Add("sealed:v1:0123456789abcdef:AAECAwQ=")
	f.Add("sealed:v1:0123456789abcdef:AAEC\nAwQ")
	f.Add("sealed:v1::")
	f.Fuzz(func(t *testing.T, text string) {
		fingerprint, ciphertext, err := rota.ParseSealed(text)
		if err != nil {
			if rota.CodeOf(err) != rota.Invalid {
				t.Errorf("%v", err)
			}
			return
		}
		if again := rota.FormatSealed(fingerprint, ciphertext); again != text {
			t.Errorf("%q was read as %q", text, again)
		}
	})
}
