package ddl

import (
	"strings"
	"unicode/utf8"
)

// scanner cuts a statement into tokens, one when it is asked for.
type scanner struct {
	text  string
	at    int
	last  int // where the last token ended: the end of the statement is there
	steps int // bytes read; tests check that it stays linear in the length of the text
}

// next reads the token at the scanner's place.
func (s *scanner) next() token {
	if err := s.skipBlank(); err != nil {
		s.at = len(s.text)
		return token{kind: badToken, start: err.Offset, stop: len(s.text), err: err}
	}
	if s.at == len(s.text) {
		return token{kind: endToken, start: s.last, stop: s.last}
	}
	t := s.read()
	s.steps += t.stop - t.start
	s.at, s.last = t.stop, t.stop
	return t
}

// skipBlank passes over white space and comments.
func (s *scanner) skipBlank() *Error {
	from := s.at
	defer func() { s.steps += s.at - from }()
	for s.at < len(s.text) {
		switch {
		case isSpace(s.text[s.at]):
			s.at++
		case isComment(s.text[s.at:]):
			end, err := skipComment(s.text, s.at)
			if err != nil {
				return err
			}
			s.at = end
		default:
			return nil
		}
	}
	return nil
}

func (s *scanner) read() token {
	switch c := s.text[s.at]; {
	case c == '\'':
		return s.readQuoted(stringToken, "'")
	case c == '"':
		return s.readQuoted(nameToken, `"`)
	case c == '$':
		return s.readDollarQuoted()
	case isDigit(c):
		return s.readNumber()
	case isLetter(c):
		return s.readWord()
	default:
		return s.readSymbol()
	}
}

func (s *scanner) readQuoted(kind tokenKind, quote string) token {
	end, err := skipQuoted(s.text, s.at)
	if err != nil {
		return s.bad(err)
	}
	between := s.text[s.at+1 : end-1]
	return token{kind: kind, start: s.at, stop: end, value: strings.ReplaceAll(between, quote+quote, quote)}
}

func (s *scanner) readDollarQuoted() token {
	end, err := skipDollarQuoted(s.text, s.at)
	if err != nil {
		return s.bad(err)
	}
	if end == s.at {
		return s.readSymbol()
	}
	tag := len(dollarTag(s.text[s.at:]))
	return token{kind: stringToken, start: s.at, stop: end, value: s.text[s.at+tag : end-tag]}
}

// readNumber reads 1, 1.5 and 1e-5. A letter directly after the number is an error, so that 5MINUTES is rejected in
// every clause alike.
func (s *scanner) readNumber() token {
	end := s.digits(s.at)
	if end+1 < len(s.text) && s.text[end] == '.' && isDigit(s.text[end+1]) {
		end = s.digits(end + 1)
	}
	if mantissa := end; end < len(s.text) && (s.text[end] == 'e' || s.text[end] == 'E') {
		end++
		if end < len(s.text) && (s.text[end] == '+' || s.text[end] == '-') {
			end++
		}
		if digits := s.digits(end); digits > end {
			end = digits
		} else {
			end = mantissa
		}
	}
	if end < len(s.text) && isInWord(s.text[end]) {
		return s.badNumber(end)
	}
	return token{kind: numberToken, start: s.at, stop: end, value: s.text[s.at:end]}
}

func (s *scanner) digits(from int) int {
	for from < len(s.text) && isDigit(s.text[from]) {
		from++
	}
	return from
}

func (s *scanner) badNumber(end int) token {
	number := s.text[s.at:end]
	for end < len(s.text) && isInWord(s.text[end]) {
		end++
	}
	return token{kind: badToken, start: s.at, stop: end, value: s.text[s.at:end], err: &Error{
		Reason: excerpt(s.text[s.at:end]) + " is neither a number nor a name",
		Hint:   "put a space after " + excerpt(number) + `, or put a name in "double quotes"`,
		State:  syntaxError,
	}}
}

func (s *scanner) readWord() token {
	end := s.at
	for end < len(s.text) && isInWord(s.text[end]) {
		end++
	}
	word := s.text[s.at:end]
	if end < len(s.text) && s.text[end] == '\'' && upperWord(word) == "E" {
		return s.bad(&Error{
			Reason: "escape strings (E'…') are not supported", Hint: "leave out the E and write the characters themselves, '' for a quote", State: syntaxError,
		})
	}
	return token{kind: wordToken, start: s.at, stop: end, value: word, upper: upperWord(word)}
}

func (s *scanner) readSymbol() token {
	_, size := utf8.DecodeRuneInString(s.text[s.at:])
	return token{kind: symbolToken, start: s.at, stop: s.at + size, value: s.text[s.at : s.at+size]}
}

// bad returns the token of a lexical error. Scanning ends there.
func (s *scanner) bad(err *Error) token {
	return token{kind: badToken, start: s.at, stop: len(s.text), err: err}
}
