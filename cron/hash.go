package cron

import (
	"hash/fnv"
	"strings"
)

// seed is the hash that determines the values of H in one field. It is computed from the name of the schedule and the
// name of the field, so that two fields of one schedule are independent. It must never change between releases, because
// users rely on the resulting times.
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

// mix is the finaliser of MurmurHash3. It improves the weak low bits of FNV, which determine the remainder in below.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (s seed) below(n int) int { return int(s.value % uint64(n)) }

// parseHash parses H, H(a-b) and their steps. Without a step the result is one value of the range, with a step every
// step-th value from an offset smaller than the step.
func (f *field) parseHash(it item, base string, stepped bool, seed seed) (set, *Error) {
	it.low, it.high = f.low, f.hashMax
	if inner := base[1:]; inner != "" {
		inner, opened := strings.CutPrefix(inner, "(")
		inner, closed := strings.CutSuffix(inner, ")")
		if !opened || !closed || !strings.Contains(inner, "-") {
			return 0, f.refuse(it.text, "is not a valid form of H", "H, H/n, H(a-b), H(a-b)/n within "+f.allowed(), "")
		}
		if err := f.parseRange(&it, inner); err != nil {
			return 0, err
		}
	}
	if !seed.named {
		return 0, &Error{
			Field: f.name, Value: it.text, Reason: "is computed from the schedule's name, and no name is given",
			Remedy: "give the name (--name NAME on the command line)",
		}
	}
	size := it.high - it.low + 1
	if !stepped {
		return 1 << uint(it.low+seed.below(size)), nil
	}
	return span(it.low+seed.below(min(it.step, size)), it.high, it.step), nil // min keeps one value if the step exceeds the range
}
