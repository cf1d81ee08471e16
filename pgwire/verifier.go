package pgwire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/xdg-go/scram"
)

// Verifier is what a server keeps of a password: enough to have it proved, not
// enough to log in with.
type Verifier struct {
	salt       string
	iterations int
	stored     []byte // key: the client's, hashed
	server     []byte // key: proves to the client that the server knows the verifier
}

const (
	verifierName  = "SCRAM-SHA-256"
	iterations    = 4096 // as PostgreSQL has it; drivers compute it at each login
	iterationsMax = 1_000_000
	saltBytes     = 16
)

// NewVerifier makes the verifier of a password, with a salt of its own.
func NewVerifier(password string) Verifier {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	return derive(password, string(salt), iterations)
}

func derive(password, salt string, iterations int) Verifier {
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil { // such a password is taken as it is written, as PostgreSQL and its drivers do
		client, _ = scram.SHA256.NewClientUnprepped("", password, "")
	}
	keys, _ := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: salt, Iters: iterations}) // it fails for keys of impossible lengths only
	return Verifier{salt: salt, iterations: iterations, stored: keys.StoredKey, server: keys.ServerKey}
}

// ParseVerifier reads what String writes, which is how PostgreSQL writes it in
// pg_authid.
func ParseVerifier(text string) (Verifier, error) {
	wrong := rota.Invalidf("verifier", "is not of the form SCRAM-SHA-256$iterations:salt$stored:server")
	parts := strings.Split(text, "$")
	if len(parts) != 3 || parts[0] != verifierName {
		return Verifier{}, wrong
	}
	count, salt, _ := strings.Cut(parts[1], ":")
	stored, server, _ := strings.Cut(parts[2], ":")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > iterationsMax {
		return Verifier{}, wrong
	}
	raw := [3][]byte{}
	for i, field := range []string{salt, stored, server} {
		if raw[i], err = base64.StdEncoding.DecodeString(field); err != nil {
			return Verifier{}, wrong
		}
	}
	if len(raw[0]) == 0 || len(raw[1]) != sha256.Size || len(raw[2]) != sha256.Size {
		return Verifier{}, wrong
	}
	return Verifier{salt: string(raw[0]), iterations: n, stored: raw[1], server: raw[2]}, nil
}

// String is the verifier as it is kept.
func (v Verifier) String() string {
	base := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s$%d:%s$%s:%s", verifierName, v.iterations, base([]byte(v.salt)), base(v.stored), base(v.server))
}

// Matches says whether a password is the one that the verifier was made of.
func (v Verifier) Matches(password string) bool {
	if v.iterations == 0 {
		return false
	}
	return hmac.Equal(derive(password, v.salt, v.iterations).stored, v.stored)
}

// credentials is the verifier as the library of SCRAM wants it.
func (v Verifier) credentials() scram.StoredCredentials {
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: v.salt, Iters: v.iterations},
		StoredKey:  v.stored, ServerKey: v.server,
	}
}

// mock is the verifier of a user who is not there. It is the same each time, as
// that of a user who is, and nobody can prove anything against it.
func mock(secret []byte, user string) Verifier {
	part := func(name string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(name + "\x00" + user))
		return mac.Sum(nil)
	}
	return Verifier{salt: string(part("salt")[:saltBytes]), iterations: iterations, stored: part("stored"), server: part("server")}
}
