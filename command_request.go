package rota

// Remember stores an idempotency key: it maps (actor, key) to the id of the command
// that is about to be sent. The reply has the id that the key maps to, which is
// Command if the key was free. A request sent again under the key therefore becomes
// the same command. A request with another hash is refused with Conflict. The key is
// forgotten after RequestKeep.
type Remember struct {
	Meta    `wire:"1"`
	Key     string `wire:"2"` // at most KeyMax bytes; unique per actor
	Hash    string `wire:"3"` // SHA-256 of the request: 64 lower-case hexadecimal digits
	Command ID     `wire:"4"` // id of the command that the request is turned into
}

// Verb returns the kind of the command.
func (*Remember) Verb() Verb { return VerbRemember }

// Validate checks the key, the hash and the id.
func (c *Remember) Validate() error {
	if c.Key == "" {
		return Invalidf("key", "is empty")
	}
	return asError(first(checkText("key", c.Key, KeyMax), checkHash("hash", c.Hash), checkNewID("command", c.Command)))
}

func (c *Remember) weigh() (entries, bytes int) {
	return 1, entryBytes + len(c.Key) + len(c.Hash)
}

// Remembered answers Remember. Known means that the key was stored before. The caller
// sends its command under the id Command, so the store applies it once.
type Remembered struct {
	Command ID   `wire:"1"`
	Known   bool `wire:"2"`
}

func (*Remembered) reply() {}

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
