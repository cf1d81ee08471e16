package ddl

import (
	"strings"
	"unicode/utf8"
)

// byteOrderMark is what some editors begin a file with. It is passed over.
const byteOrderMark = "\uFEFF"

// Source is one statement of several.
type Source struct {
	Text   string // from its first word to its last character, without the semicolon
	Offset int    // of the text in the whole, in bytes
	Ended  bool   // by a semicolon; the last one may lack it
}

// Split cuts a text at each semicolon that stands outside of quotes, comments
// and parentheses, and drops what is empty. It does not ask what the statements
// say. The error is an *Error whose place is in the whole text.
func Split(text string) ([]Source, error) {
	if err := checkCharacters(text); err != nil {
		return nil, err
	}
	var sources []Source
	for at := 0; at < len(text); {
		s, err := extent(text, at)
		if err != nil {
			return nil, err
		}
		if s.start < s.stop {
			sources = append(sources, Source{Text: text[s.start:s.stop], Offset: s.start, Ended: s.ended})
		}
		at = s.next
	}
	return sources, nil
}

// span is where a statement lies.
type span struct {
	start, stop int // equal if it is empty
	next        int // where the statement behind it may begin
	ended       bool
}

// extent finds the span of the statement at a place, white space and comments
// around it left out.
func extent(text string, at int) (span, *Error) {
	s := span{start: -1}
	depth := 0
	for i := at; i < len(text); {
		c := text[i]
		if c == ';' && depth == 0 {
			s.next, s.ended = i+1, true
			return s.found(i), nil
		}
		if mark := markLength(text[i:]); mark > 0 && s.start < 0 {
			i += mark // several files may stand one behind the other
			continue
		}
		end, err := skip(text, i)
		if err != nil {
			return span{}, err
		}
		switch {
		case isSpace(c) || isComment(text[i:]):
			i = end
			continue
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		}
		if s.start < 0 {
			s.start = i
		}
		i, s.stop = end, end
	}
	s.next = len(text)
	return s.found(len(text)), nil
}

// found makes the span of nothing an empty one.
func (s span) found(at int) span {
	if s.start < 0 {
		s.start, s.stop = at, at
	}
	return s
}

// skip finds the end of what begins at a place: of quotes, of a comment, of a
// word, in which a $ begins no quotes, or of a single character.
func skip(text string, at int) (end int, err *Error) {
	if end, err = skipQuoted(text, at); err != nil || end > at {
		return end, err
	}
	end = at + 1
	if isLetter(text[at]) || isDigit(text[at]) {
		for end < len(text) && isInWord(text[end]) {
			end++
		}
	}
	return end, nil
}

// markLength is the length of the byte order mark that a text begins with, or 0.
func markLength(text string) int {
	if strings.HasPrefix(text, byteOrderMark) {
		return len(byteOrderMark)
	}
	return 0
}

// checkCharacters refuses what is no text.
func checkCharacters(text string) *Error {
	if at := strings.IndexByte(text, 0); at >= 0 && utf8.ValidString(text[:at]) {
		return newError(text, at, Error{Reason: "the text has a NUL character here", Hint: "remove it", State: badCharacter})
	}
	if utf8.ValidString(text) {
		return nil
	}
	at := 0
	for {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			return newError(text, at, Error{Reason: "the text is not valid UTF-8 here", Hint: "send it in UTF-8", State: badCharacter})
		}
		at += size
	}
}
