package rota

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
)

// ID identifies a job, a run, an execution or a command. It is a UUIDv7: later ids sort
// later, so rows that are created together are stored together.
type ID [16]byte

// NewID returns a new id from the clock and randomness of this process. The ids of one
// process are strictly increasing.
func NewID() ID {
	return ID(uuid.Must(uuid.NewV7()))
}

// NewIDAt returns a new id with this time, in milliseconds, and randomness of this process.
func NewIDAt(at time.Time) ID {
	id, first := NewID(), FirstIDAt(at)
	copy(id[:6], first[:6])
	return id
}

// FirstIDAt returns an id that no id with this time, in milliseconds, is less than. For a time before 1970 it is the
// zero id.
func FirstIDAt(at time.Time) (id ID) {
	ms := uint64(max(0, at.UnixMilli()))
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	return id
}

// ParseID parses the text form of an id.
func ParseID(text string) (ID, error) {
	if len(text) != 36 {
		return ID{}, Invalidf("id", "%s is not an id; an id looks like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60", quote(text))
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return ID{}, Invalidf("id", "%s is not an id; an id looks like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60", quote(text))
	}
	return ID(id), nil
}

// IDPrefixMin is the length of the shortest prefix of an id that ParseIDPrefix accepts. The
// first 13 characters are the time of an id in milliseconds, and 8 of them about a minute.
const IDPrefixMin = 8

// ParseIDPrefix parses the first characters of the text form of an id, at least
// IDPrefixMin, and returns the smallest and the greatest id whose text form begins with
// them.
func ParseIDPrefix(text string) (low, high ID, err error) {
	const lowest, highest = "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"
	if len(text) < IDPrefixMin || len(text) > len(lowest) {
		return low, high, Invalidf("id", "%s is not the beginning of an id; write 8 or more characters of an id such as 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60", quote(text))
	}
	if low, err = ParseID(text + lowest[len(text):]); err == nil {
		high, err = ParseID(text + highest[len(text):])
	}
	return low, high, err
}

// Next returns the smallest id that is greater than id, or the zero id if there is none.
func (id ID) Next() ID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

// Previous returns the greatest id that is smaller than id. For the zero id it returns the
// zero id.
func (id ID) Previous() ID {
	if id.IsZero() {
		return id
	}
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]--; id[i] != 0xff {
			break
		}
	}
	return id
}

// Derive returns the id of something that a command creates. It keeps the time bits of
// id and takes the other bits from a hash of id and salt. The same command sent again
// therefore gets the same ids.
func (id ID) Derive(salt []byte) ID {
	var buf [64]byte
	sum := sha256.Sum256(append(append(buf[:0], id[:]...), salt...))
	derived := id
	copy(derived[6:], sum[:10])
	derived[6] = derived[6]&0x0f | 0x70
	derived[8] = derived[8]&0x3f | 0x80
	return derived
}

// Time returns the millisecond in which the id was created. It is for people; the rules
// never read a time from an id.
func (id ID) Time() time.Time {
	var ms int64
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC()
}

// IsZero reports whether the id is zero.
func (id ID) IsZero() bool { return id == ID{} }

// Compare compares ids as bytes, which is the order of creation.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// String returns the text form; the zero id is the empty string.
func (id ID) String() string {
	if id.IsZero() {
		return ""
	}
	return uuid.UUID(id).String()
}

// MarshalText returns the text form.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses the text form.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = ID{}
		return nil
	}
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
