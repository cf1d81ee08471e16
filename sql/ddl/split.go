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

// Split cuts a text at each semicolon outside of quotes, comments
// and parentheses, and drops empty statements. It does not parse the statements.
// The error is an *Error whose position is in the whole text.
func Split(text string) ([]Source, error) {
	if err := checkCharacters(text); err != nil {
		return nil, err
	}
	var sources []Source
	for at := 0; at < len(text); {
		s, err := statementSpan(text, at)
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

// span is the range of a statement in the text.
type span struct {
	start, stop int // equal if it is empty
	next        int // where the next statement may begin
	ended       bool
}

// statementSpan returns the span of the statement that begins at or after an offset, without the white space and
// comments around it.
func statementSpan(text string, at int) (span, *Error) {
	s := span{start: -1}
	depth := 0
	for i := at; i < len(text); {
		c := text[i]
		if c == ';' && depth == 0 {
			s.next, s.ended = i+1, true
			return s.orEmptyAt(i), nil
		}
		if mark := byteOrderMarkLength(text[i:]); mark > 0 && s.start < 0 {
			i += mark // the text may be several concatenated files
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
	return s.orEmptyAt(len(text)), nil
}

// orEmptyAt returns the span, or an empty span at an offset if no statement was found.
func (s span) orEmptyAt(at int) span {
	if s.start < 0 {
		s.start, s.stop = at, at
	}
	return s
}

// skip returns the end of the token at an offset: quoted text, a comment, a word (in which a $ begins no quotes) or a
// single character.
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

// byteOrderMarkLength is the length of the byte order mark that a text begins with, or 0.
func byteOrderMarkLength(text string) int {
	if strings.HasPrefix(text, byteOrderMark) {
		return len(byteOrderMark)
	}
	return 0
}

// checkCharacters rejects NUL characters and invalid UTF-8.
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
