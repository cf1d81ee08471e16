package payload

import "bytes"

// scanner reads the rest of a flat object. The text is valid JSON, so the scanner
// checks only what separates one value from the next.
type scanner struct{ rest []byte }

func (s *scanner) skipSpace() {
	for s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\t' || s.rest[0] == '\r' {
		s.rest = s.rest[1:]
	}
}

// skip steps over a mark, if it is next.
func (s *scanner) skip(mark byte) bool {
	s.skipSpace()
	if s.rest[0] != mark {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// stringValue steps over a string and returns the bytes between its quotes. A
// quote after an odd number of backslashes does not end the string.
func (s *scanner) stringValue() (text []byte, escaped bool) {
	for end := 1; ; end++ {
		end += bytes.IndexByte(s.rest[end:], '"')
		text = s.rest[1:end]
		if (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 0 {
			s.rest = s.rest[end+1:]
			return text, bytes.IndexByte(text, '\\') >= 0
		}
	}
}

// fits steps over a value and reports whether the field certainly accepts it. It
// does not step over a list or an object, which no flat schema accepts.
func (s *scanner) fits(f *flatField) bool {
	s.skipSpace()
	switch s.rest[0] {
	case '"':
		return f.fitsText(s.stringValue())
	case 'n':
		s.advance(4)
		return f.kinds&kindNull != 0
	case 't':
		s.advance(4)
		return f.kinds&kindBoolean != 0
	case 'f':
		s.advance(5)
		return f.kinds&kindBoolean != 0
	case '{', '[':
		return false
	}
	return f.fitsNumber(s.advance(s.numberLength()))
}

// advance steps over n bytes and returns them.
func (s *scanner) advance(n int) []byte {
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}

// numberLength is how many bytes the number that comes next has.
func (s *scanner) numberLength() int {
	for i, c := range s.rest {
		if (c < '0' || c > '9') && c != '-' && c != '.' && c != 'e' && c != 'E' && c != '+' {
			return i
		}
	}
	return len(s.rest)
}
