// Package mask replaces secret values in text: as they are, in base64 and base64url at every alignment, in hexadecimal, URL-encoded,
// and escaped as in JSON, Go, shell and HTML texts, also JSON within JSON. Base64 and hexadecimal may be wrapped into lines.
//
// At each position of a text at most windowMax bytes are compared, with sorted patterns. The time is linear in the length of the text,
// and the memory in that of the values.
package mask

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Text stands in place of a value.
const Text = "***"

// ValueMin is the length of the shortest value that is masked. The letters of a shorter one are everywhere.
const ValueMin = 4

// LineMin is the length of the shortest line of a value that is masked by itself.
const LineMin = 8

// Set holds values. It may be used by several goroutines. A nil Set is empty.
type Set struct {
	mu    sync.RWMutex
	seen  map[string]bool // values that were added
	index *index          // nil: there are no values
	steps atomic.Int64    // comparisons of patterns, for tests
}

// index has what is searched.
type index struct {
	plain   patterns // in texts as they are, and with their escapes decoded
	encoded patterns // hexadecimal and base64, in which escapes are decoded and line breaks are left out

	begins [256]bool // bytes that a pattern or an escape may begin with
	quads  quads
}

// Add adds a value with all its encodings. Programs often print a value without the line break at its end, or line by line, so both
// count as values.
func (s *Set) Add(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(value, ValueMin)
	s.add(strings.TrimSpace(value), ValueMin)
	if strings.ContainsAny(value, "\r\n") {
		for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
			s.add(strings.TrimSpace(line), LineMin)
		}
	}
}

func (s *Set) add(value string, least int) {
	if len(value) < least || s.seen[value] {
		return
	}
	if s.index == nil {
		s.index, s.seen = &index{}, map[string]bool{}
	}
	s.seen[value] = true
	for _, form := range plainForms(value) {
		s.index.plain.add(form)
	}
	for _, form := range encodedForms(value) {
		s.index.encoded.add(form)
	}
}

// Empty reports whether there is nothing to mask.
func (s *Set) Empty() bool {
	if s == nil {
		return true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index == nil
}

// String returns a text without the values.
func (s *Set) String(text string) string {
	if s.Empty() {
		return text
	}
	return string(s.Bytes([]byte(text)))
}

// Bytes returns a text without the values. At its end, half a value is masked too: the text may have been cut.
func (s *Set) Bytes(text []byte) []byte {
	if s.Empty() {
		return text
	}
	out, _, _ := s.mask(text, 0, true)
	return out
}

// Cut returns the beginning of a longer text without the values. What may begin a value at its end is removed.
func (s *Set) Cut(text string) string {
	if s.Empty() {
		return text
	}
	out, _, _ := s.mask([]byte(text), 0, false)
	return string(out)
}

// sorted returns the index with sorted patterns. The caller unlocks the set for reading.
func (s *Set) sorted() *index {
	s.mu.RLock()
	for s.index.plain.added || s.index.encoded.added {
		s.mu.RUnlock()
		s.mu.Lock()
		s.index.sort()
		s.mu.Unlock()
		s.mu.RLock()
	}
	return s.index
}

func (x *index) sort() {
	x.plain.sort()
	x.encoded.sort()
	for b := range x.begins {
		x.begins[b] = kinds[b] == escapes || x.plain.first[b] || x.encoded.first[inBase64[b]]
	}
	for i := range x.quads {
		x.quads[i] = x.plain.quads[i] | x.encoded.quads[i]
	}
}

// mask returns a text in which each run of bytes that belong to values is Text. The first covered bytes belong to a value for which
// Text was written before. Unless the text is the last one, rest is what may begin a value that continues later, and restCovered how
// much of it belongs to a value already.
func (s *Set) mask(text []byte, covered int, last bool) (out, rest []byte, restCovered int) {
	x, end := s.sorted(), covered // text[:end] is written
	defer s.mu.RUnlock()
	var steps int64
	defer func() { s.steps.Add(steps) }()
	for i := 0; i < len(text); i++ {
		if i = x.skip(text, i); i == len(text) {
			break
		}
		found, more := x.at(text[i:], last, &steps)
		if more {
			if i > end {
				return append(out, text[end:i]...), text[i:], 0
			}
			return out, text[i:], end - i
		}
		if found == 0 || i+found <= end {
			continue
		}
		if i >= end {
			out = append(append(out, text[end:i]...), Text...)
		}
		end = i + found
	}
	return append(out, text[end:]...), nil, 0
}

// skip returns the next position where a pattern may begin.
func (x *index) skip(text []byte, i int) int {
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case !x.begins[c]:
			continue
		case kinds[c] == escapes || i+4 > len(text) || kinds[text[i+1]]|kinds[text[i+2]]|kinds[text[i+3]] != 0:
			return i
		}
		if x.quads.has(text[i:]) {
			return i
		}
	}
	return i
}

// at returns the length of the longest value at the beginning of a text, and whether a longer text may contain a longer one.
func (x *index) at(text []byte, last bool, steps *int64) (found int, more bool) {
	raw := text[:min(len(text), windowMax)]
	if len(raw) < 4 || x.plain.quads.has(raw) {
		found, more = x.plain.find(raw, len(text) <= windowMax, last, steps)
		if more && last {
			found = len(text)
		}
	}
	if slices.ContainsFunc(raw, func(b byte) bool { return kinds[b] == escapes }) {
		n, longer := x.plain.decode(text, false, last, steps)
		found, more = max(found, n), more || longer
	}
	n, longer := x.encoded.decode(text, true, last, steps)
	return max(found, n), (more || longer) && !last
}

// decode is find for a text whose escapes are decoded.
func (p *patterns) decode(text []byte, encoded, last bool, steps *int64) (found int, more bool) {
	var w window
	w.read(text, 4, encoded)
	if w.n >= 4 && !p.quads.has(w.text[:]) || w.n < 4 && !w.ended {
		return 0, false
	}
	w.read(text, windowMax, encoded)
	n, more := p.find(w.text[:w.n], w.ended, last, steps)
	switch {
	case more && last:
		return len(text), true
	case n == 0:
		return 0, more
	}
	return w.ends[n-1], more
}
