package access

import "github.com/rotajobs/rota"

// TokenFor returns a new token with a given id.
func TokenFor(id string) string {
	return rota.TokenPrefix + id + "_" + randomText(secretLetters, secretLength)
}

// TokenIDOf returns the id of a token that follows from a hash of at least 12 bytes.
func TokenIDOf(hash []byte) string {
	id := make([]byte, tokenIDLength)
	for i := range id {
		id[i] = idLetters[int(hash[i])%len(idLetters)] // 32 letters: each is as likely as the others
	}
	return string(id)
}
