package payload

import "bytes"

// scanner walks over what is left of a flat object. The text is known to be JSON,
// so it looks only at what tells one value from another.
type scanner struct{ rest []byte }

func (s *scanner) space() {
	for s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\t' || s.rest[0] == '\r' {
		s.rest = s.rest[1:]
	}
}

// take steps over a mark, if it comes next.
func (s *scanner) take(mark byte) bool {
	s.space()
	if s.rest[0] != mark {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text steps over a text, and gives what stands between its quotes. A quote after
// an odd number of backslashes is not its end.
func (s *scanner) text() (text []byte, escaped bool) {
	for end := 1; ; end++ {
		end += bytes.IndexByte(s.rest[end:], '"')
		text = s.rest[1:end]
		if (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 0 {
			s.rest = s.rest[end+1:]
			return text, bytes.IndexByte(text, '\\') >= 0
		}
	}
}

// fits steps over a value, and reports whether the field is sure to take it. It
// stays before a list or an object: neither is plain.
func (s *scanner) fits(f *plainField) bool {
	s.space()
	switch s.rest[0] {
	case '"':
		return f.fitsText(s.text())
	case 'n':
		s.cut(4)
		return f.kinds&kindNull != 0
	case 't':
		s.cut(4)
		return f.kinds&kindBoolean != 0
	case 'f':
		s.cut(5)
		return f.kinds&kindBoolean != 0
	case '{', '[':
		return false
	}
	return f.fitsNumber(s.cut(s.digits()))
}

// cut steps over n bytes.
func (s *scanner) cut(n int) []byte {
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}

// digits is how many bytes the number that comes next has.
func (s *scanner) digits() int {
	for i, c := range s.rest {
		if (c < '0' || c > '9') && c != '-' && c != '.' && c != 'e' && c != 'E' && c != '+' {
			return i
		}
	}
	return len(s.rest)
}
