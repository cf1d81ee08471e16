package cron

import (
	"hash/fnv"
	"strings"
)

// seed is where the H of one field falls. It comes from the schedule's name and the field's, so that two fields of one
// schedule are independent, and it must never change between releases: users plan around the times it gave them.
type seed struct {
	named bool
	value uint64
}

func newSeed(name string, f *field) seed {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write([]byte{0})
	h.Write([]byte(f.name))
	return seed{named: name != "", value: mix(h.Sum64())}
}

// mix spreads FNV's weak low bits over the word, since they are all that a remainder sees (the finaliser of
// MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (s seed) below(n int) int { return int(s.value % uint64(n)) }

// parseSpread reads H, H(a-b) and their steps. Without a step it is one value of the range, with one it is every
// step-th value from an offset below the step.
func (f *field) parseSpread(it item, base string, stepped bool, seed seed) (set, *Error) {
	it.low, it.high = f.low, f.spread
	if inner := base[1:]; inner != "" {
		inner, opened := strings.CutPrefix(inner, "(")
		inner, closed := strings.CutSuffix(inner, ")")
		if !opened || !closed || !strings.Contains(inner, "-") {
			return 0, f.refuse(it.text, "is not a spread", "H, H/n, H(a-b), H(a-b)/n within "+f.allowed(), "")
		}
		if err := f.parseRange(&it, inner); err != nil {
			return 0, err
		}
	}
	if !seed.named {
		return 0, &Error{
			Field: f.name, Value: it.text, Reason: "spreads by the schedule's name, and there is none",
			Remedy: "give the name (--name NAME on the command line)",
		}
	}
	size := it.high - it.low + 1
	if !stepped {
		return 1 << uint(it.low+seed.below(size)), nil
	}
	return span(it.low+seed.below(min(it.step, size)), it.high, it.step), nil // a long step leaves one value, and not none
}
