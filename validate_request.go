package rota

// Validate checks the key, the hash and the id.
func (c *Remember) Validate() error {
	if c.Key == "" {
		return Invalidf("key", "is empty")
	}
	return asError(first(checkText("key", c.Key, KeyMax), checkHash("hash", c.Hash), checkNewID("command", c.Command)))
}

// hashDigits is the length of a SHA-256 as text.
const hashDigits = 64

// checkHash requires lower-case hexadecimal, since hashes are compared as text.
func checkHash(field, hash string) *Error {
	if len(hash) != hashDigits {
		return Invalidf(field, "has %d bytes; a hash is %d hexadecimal digits", len(hash), hashDigits)
	}
	for i := range len(hash) {
		if c := hash[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return Invalidf(field, "contains characters other than 0 to 9 and a to f")
		}
	}
	return nil
}
