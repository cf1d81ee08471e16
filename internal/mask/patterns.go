package mask

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// blockMax is the length of the longest part of a form that is searched by itself. A longer form is searched in blocks, each of which
// begins before the end of the one before: all together cover it. So the cost of a position does not depend on the length of the values.
const blockMax = 64

// patterns are sorted texts to search.
type patterns struct {
	sorted []pattern
	added  bool      // patterns were added since they were sorted
	first  [256]bool // first bytes
	quads  quads     // first four bytes
}

type pattern struct {
	text   string
	prefix int32 // index of the longest other pattern that this one begins with; -1: none
}

// add adds a form in blocks. Each begins at the beginning of a character, because an escape stands for a whole one.
func (p *patterns) add(form string) {
	for len(form) > blockMax {
		p.addBlock(form[:blockMax])
		next := startOfRune(form, blockMax-1)
		if len(form)-next < blockMax {
			next = startOfRune(form, len(form)-blockMax)
			p.addBlock(form[next:])
			return
		}
		form = form[next:]
	}
	p.addBlock(form)
}

// startOfRune returns the beginning of the character that contains a byte.
func startOfRune(text string, at int) int {
	for back := range utf8.UTFMax {
		if at-back > 0 && utf8.RuneStart(text[at-back]) {
			return at - back
		}
	}
	return at
}

func (p *patterns) addBlock(text string) {
	if len(text) < ValueMin {
		return
	}
	p.sorted, p.added = append(p.sorted, pattern{text: text}), true
	p.first[text[0]] = true
	p.quads.add([]byte(text[:4]))
}

// sort sorts the patterns and links each to its longest prefix.
func (p *patterns) sort() {
	if !p.added {
		return
	}
	slices.SortFunc(p.sorted, func(a, b pattern) int { return strings.Compare(a.text, b.text) })
	p.sorted = slices.CompactFunc(p.sorted, func(a, b pattern) bool { return a.text == b.text })
	for i := range p.sorted {
		before := int32(i - 1)
		for before >= 0 && !strings.HasPrefix(p.sorted[i].text, p.sorted[before].text) {
			before = p.sorted[before].prefix
		}
		p.sorted[i].prefix = before
	}
	p.added = false
}

// quads has a bit for a hash of four bytes. It does not distinguish the alphabets of base64 and base64url.
type quads [1 << 10]uint64

func (q *quads) add(text []byte) {
	bit := q.bit(text)
	q[bit>>6] |= 1 << (bit & 63)
}

func (q *quads) has(text []byte) bool {
	bit := q.bit(text)
	return q[bit>>6]&(1<<(bit&63)) != 0
}

func (q *quads) bit(text []byte) uint16 {
	four := uint32(inBase64[text[0]]) | uint32(inBase64[text[1]])<<8 | uint32(inBase64[text[2]])<<16 | uint32(inBase64[text[3]])<<24
	return uint16(four * 2654435761 >> 16)
}

// find returns the length of the longest pattern at the beginning of a text. If the text is ended, more reports whether a longer text
// may have a longer one, and for the last text, whether this one is at least half of a pattern.
func (p *patterns) find(text []byte, ended, last bool, steps *int64) (found int, more bool) {
	next := sort.Search(len(p.sorted), func(i int) bool {
		*steps++
		return p.sorted[i].text > string(text)
	})
	if at := int32(next - 1); at >= 0 {
		common := commonPrefix(p.sorted[at].text, text)
		for at >= 0 && len(p.sorted[at].text) > common {
			*steps++
			at = p.sorted[at].prefix
		}
		if at >= 0 {
			found = len(p.sorted[at].text)
		}
	}
	if !ended || last && len(text) < ValueMin {
		return found, false
	}
	for _, longer := range p.sorted[next:] {
		*steps++
		if !strings.HasPrefix(longer.text, string(text)) {
			return found, false
		}
		if !last || len(text) >= (len(longer.text)+1)/2 {
			return found, true
		}
	}
	return found, false
}

func commonPrefix(a string, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
