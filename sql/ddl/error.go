package ddl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota/internal/suggest"
)

// SQLSTATE of each kind of error.
const (
	syntaxError   = "42601"
	badValue      = "22023"
	badCharacter  = "22021"
	notSupported  = "0A000"
	limitExceeded = "54000"
	nameTooLong   = "42622"
)

// Error states where and why a text cannot be parsed. It is the only error type of this package.
type Error struct {
	Text     string // what was read, in which the position is
	Offset   int    // in bytes, from 0
	Line     int    // from 1
	Column   int    // from 1, in characters
	Found    string // the token at the position; empty if it does not matter
	Expected string // what is allowed at the position
	Reason   string // the problem, if Found and Expected do not state it
	Hint     string // the remedy; may be empty
	State    string // SQLSTATE
}

// Error reads as "line 2, column 8: found SHEDULE, expected a clause (SCHEDULE, …);
// did you mean SCHEDULE?". It repeats at most a few words of the text.
func (e *Error) Error() string {
	var parts []string
	if e.Found != "" {
		parts = append(parts, "found "+e.Found)
	}
	if e.Expected != "" {
		parts = append(parts, "expected "+e.Expected)
	}
	text := strings.Join(parts, ", ")
	switch {
	case text == "":
		text = e.Reason
	case e.Reason != "":
		text += ": " + e.Reason
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, text)
}

// Position returns the position in characters from 1, as in the PostgreSQL protocol.
func (e *Error) Position() int { return utf8.RuneCountInString(e.Text[:e.Offset]) + 1 }

// newError fills in the place.
func newError(text string, offset int, e Error) *Error {
	before := text[:offset]
	lineStart := strings.LastIndexByte(before, '\n') + 1
	e.Text, e.Offset = text, offset
	e.Line = lineOf(text, offset)
	e.Column = utf8.RuneCountInString(strings.TrimPrefix(before[lineStart:], byteOrderMark)) + 1
	return &e
}

func lineOf(text string, offset int) int { return strings.Count(text[:offset], "\n") + 1 }

// excerptMax bounds how much of a text an error repeats.
const excerptMax = 40

// excerpt shortens a text for an error message and escapes characters that are not printable.
func excerpt(text string) string {
	cut, dots := text, ""
	if len(text) > excerptMax {
		end := excerptMax
		for !utf8.RuneStart(text[end]) {
			end--
		}
		cut, dots = text[:end], "…"
	}
	for _, r := range cut {
		if !strconv.IsPrint(r) {
			quoted := strconv.Quote(cut)
			return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + dots
		}
	}
	return cut + dots
}

// suggestion returns a hint with the word that is spelled most like the one found, or an empty string.
func suggestion(found string, words []string) string {
	if word := suggest.Nearest(strings.ToUpper(found), words); word != "" {
		return "did you mean " + word + "?"
	}
	return ""
}

// wordsShownMax bounds how many words an error lists.
const wordsShownMax = 6

// oneOf lists words: "A", "A or B", "A, B or C", and "A, B, C, …" if there are many.
func oneOf(words []string) string {
	switch n := len(words); {
	case n == 0:
		return ""
	case n == 1:
		return words[0]
	case n > wordsShownMax:
		return strings.Join(words[:wordsShownMax], ", ") + ", …"
	default:
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
}
