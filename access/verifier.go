package access

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

// Verifier is what the server stores of a password: enough to check a proof, not enough to log
// in.
type Verifier struct {
	salt       string
	iterations int
	stored     []byte // key: the client's, hashed
	server     []byte // key: proves to the client that the server knows the verifier
}

const (
	verifierName = "SCRAM-SHA-256"
	iterations   = 4096 // as in PostgreSQL; drivers compute them at each login
	saltBytes    = 16
)

// NewVerifier creates the verifier of a password with a random salt.
func NewVerifier(password string) Verifier {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	return derive(password, string(salt), iterations)
}

func derive(password, salt string, iterations int) Verifier {
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil { // PostgreSQL and its drivers use such a password unprepared
		client, _ = scram.SHA256.NewClientUnprepped("", password, "")
	}
	keys, _ := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: salt, Iters: iterations}) // it fails for keys of impossible lengths only
	return Verifier{salt: salt, iterations: iterations, stored: keys.StoredKey, server: keys.ServerKey}
}

// ParseVerifier parses the output of String, which is the format of pg_authid in PostgreSQL.
func ParseVerifier(text string) (Verifier, error) {
	wrong := rota.Invalidf("verifier", "is not a SCRAM verifier; write SCRAM-SHA-256$4096:salt$stored:server with a salt of 16 bytes")
	parts := strings.Split(text, "$")
	if len(parts) != 3 || parts[0] != verifierName {
		return Verifier{}, wrong
	}
	count, salt, _ := strings.Cut(parts[1], ":")
	stored, server, _ := strings.Cut(parts[2], ":")
	n, err := strconv.Atoi(count)
	if err != nil || n != iterations {
		return Verifier{}, wrong
	}
	raw := [3][]byte{}
	for i, field := range []string{salt, stored, server} {
		if raw[i], err = base64.StdEncoding.DecodeString(field); err != nil {
			return Verifier{}, wrong
		}
	}
	if len(raw[0]) != saltBytes || len(raw[1]) != sha256.Size || len(raw[2]) != sha256.Size {
		return Verifier{}, wrong
	}
	return Verifier{salt: string(raw[0]), iterations: n, stored: raw[1], server: raw[2]}, nil
}

// String is the format in which the verifier is stored.
func (v Verifier) String() string {
	base := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s$%d:%s$%s:%s", verifierName, v.iterations, base([]byte(v.salt)), base(v.stored), base(v.server))
}

// Matches reports whether the verifier belongs to the password.
func (v Verifier) Matches(password string) bool {
	if v.iterations == 0 {
		return false
	}
	return hmac.Equal(derive(password, v.salt, v.iterations).stored, v.stored)
}

// IsZero reports whether this is the zero verifier, which no password matches.
func (v Verifier) IsZero() bool { return v.iterations == 0 }

// Credentials converts the verifier to the type of the SCRAM library.
func (v Verifier) Credentials() scram.StoredCredentials {
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: v.salt, Iters: v.iterations},
		StoredKey:  v.stored, ServerKey: v.server,
	}
}

// Mocks creates the verifiers of unknown users. A client cannot tell them from those of known users: they
// have the same form, cost the same number of hash operations, and are the same at each login.
type Mocks struct{ secret string }

// NewMocks creates the verifiers that follow from a secret. Without one they differ from those of all other processes.
func NewMocks(secret string) *Mocks {
	if secret == "" {
		secret = rand.Text()
	}
	return &Mocks{secret}
}

// Verifier returns the verifier of an unknown user. No password matches it.
func (m *Mocks) Verifier(user string) Verifier {
	part := func(name string) []byte {
		mac := hmac.New(sha256.New, []byte(m.secret))
		mac.Write([]byte(name + "\x00" + user))
		return mac.Sum(nil)
	}
	return Verifier{salt: string(part("salt")[:saltBytes]), iterations: iterations, stored: part("stored"), server: part("server")}
}
