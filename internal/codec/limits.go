package codec

import (
	"math"

	"github.com/rotajobs/rota"
)

// limits bound an encoding. The encoder and the decoder count alike, so the decoder
// accepts all that the encoder writes.
type limits struct {
	what    string // what is encoded, in errors
	bytes   int    // longest encoding
	list    int    // most entries of one list; the longest of a valid command is that of its expectations
	entries int    // most entries of all lists together
	memory  int    // most memory of entries and of values behind pointers, in bytes
}

var (
	batchLimits = limits{what: "batch", bytes: EncodedMax, list: rota.ExpectMax, entries: EntriesMax, memory: math.MaxInt}
	unlimited   = limits{bytes: math.MaxInt, list: math.MaxInt, entries: math.MaxInt, memory: math.MaxInt}
)

// counter counts what limits bound.
type counter struct {
	limits
	entriesUsed int
	memoryUsed  int
}

// entry counts one entry of a list.
func (c *counter) entry(index int) *rota.Error {
	c.entriesUsed++
	switch {
	case index >= c.list:
		return rota.Invalidf("", "the list has more than %d entries", c.list)
	case c.entriesUsed > c.entries:
		return rota.Invalidf("", "the %s has more than %d entries; split it", c.what, c.entries)
	}
	return nil
}

// allocate counts n values of some bytes each.
func (c *counter) allocate(n, size int) *rota.Error {
	if size > 0 && n > (c.memory-c.memoryUsed)/size {
		return rota.Invalidf("", "the %s takes more than %d bytes of memory; split it", c.what, c.memory)
	}
	c.memoryUsed += n * size
	return nil
}

func (c *counter) tooLong(n int) *rota.Error {
	return rota.Invalidf("", "the %s has %d bytes or more; at most %d are allowed; split it", c.what, n, c.bytes)
}
