package access

import (
	"crypto/tls"
	"encoding/asn1"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commonNameMax is the longest common name that logs somebody in, in bytes. No user has a longer one.
const commonNameMax = 255

// commonNameOID is the attribute of a certificate's subject that holds the common name.
var commonNameOID = asn1.ObjectIdentifier{2, 5, 4, 3}

// CommonName returns the common name of the certificate that a client proved to own, if TLS has verified the
// certificate. A name that programs read differently is none: two common names in one certificate, control characters
// such as NUL, invalid UTF-8, spaces at the ends, or an extreme length.
func CommonName(state *tls.ConnectionState) (name string, ok bool) {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return "", false
	}
	names := 0
	for _, attribute := range state.VerifiedChains[0][0].Subject.Names {
		if attribute.Type.Equal(commonNameOID) {
			name, _ = attribute.Value.(string)
			names++
		}
	}
	if names != 1 || !plainName(name) {
		return "", false
	}
	return name, true
}

// plainName reports whether a name has one reading.
func plainName(name string) bool {
	return name != "" && len(name) <= commonNameMax && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}
