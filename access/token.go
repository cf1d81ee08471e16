package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/rotajobs/rota"
)

// Lengths of the parts of a token. The secret has more than 190 random bits.
const (
	tokenIDLength = 12
	secretLength  = 32
)

// letters are those of token ids and secrets. Ids are compared by databases and typed by people, so they have no
// capitals.
const (
	idLetters     = "abcdefghijkmnpqrstuvwxyz23456789"
	secretLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// NewToken returns a new token and its id. The token is rota_ID_SECRET.
func NewToken() (id, token string) {
	id = randomText(idLetters, tokenIDLength)
	return id, rota.TokenPrefix + id + "_" + randomText(secretLetters, secretLength)
}

// randomText returns random letters, each with the same probability.
func randomText(letters string, length int) string {
	text := make([]byte, 0, length)
	var random [64]byte
	even := 256 - 256%len(letters)
	for len(text) < length {
		_, _ = rand.Read(random[:]) // it never fails
		for _, b := range random {
			if int(b) < even && len(text) < length {
				text = append(text, letters[int(b)%len(letters)])
			}
		}
	}
	return string(text)
}

// HashToken returns what is stored of a token. A token is random, so that a fast hash is as good as a slow one.
func HashToken(token string) string {
	hash := sha256.Sum256([]byte(token))
	return hex.EncodeToString(hash[:])
}

// TokenID returns the id in a token, or false if the text is not a token.
func TokenID(token string) (id string, ok bool) {
	rest, is := strings.CutPrefix(token, rota.TokenPrefix)
	id, secret, found := strings.Cut(rest, "_")
	if !is || !found || !alphanumeric(id) || !alphanumeric(secret) {
		return "", false
	}
	return id, true
}

func alphanumeric(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; (c < 'a' || c > 'z') && (text[i] < '0' || text[i] > '9') {
			return false
		}
	}
	return text != "" && len(text) <= 64
}
