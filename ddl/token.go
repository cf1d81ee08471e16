package ddl

import "strings"

// tokenKind says what a token is.
type tokenKind int

const (
	endToken    tokenKind = iota // there is nothing more
	wordToken                    // a keyword or a bare name
	nameToken                    // a "name"
	stringToken                  // a 'string', or one between dollars
	numberToken                  // without a sign
	markToken                    // one character that is nothing else
	badToken                     // none: the error says why
)

// token is a part of a statement. Its value is what was meant: of a word as it
// stands there, of quotes what is between them.
type token struct {
	kind  tokenKind
	start int // in bytes
	stop  int
	value string
	upper string // of a word, if it may be a keyword
	err   *Error // of a badToken; it is raised, and gets its place, only where no UUID may stand
}

// is reports whether the token is this keyword.
func (t token) is(keyword string) bool { return t.kind == wordToken && t.upper == keyword }

func (t token) isMark(mark string) bool { return t.kind == markToken && t.value == mark }

// ends reports whether nothing follows that belongs to the statement.
func (t token) ends() bool { return t.kind == endToken || t.isMark(";") }

// found names the token for an error. What strings hold is not repeated: it may
// be a password.
func (t token) found() string {
	switch {
	case t.ends():
		return "the end of the statement"
	case t.isMark(","):
		return "a comma"
	case t.kind == stringToken:
		return "a string"
	case t.kind == nameToken:
		return shown(quoteName(t.value))
	default:
		return shown(t.value)
	}
}

// keywordMax is longer than any keyword: of longer words nothing is compared.
const keywordMax = 32

// upperWord is a word as keywords are written, or empty if it cannot be one.
// Letters beyond ASCII are left alone: some of them become ASCII in upper case.
func upperWord(word string) string {
	if len(word) > keywordMax {
		return ""
	}
	for i := range len(word) {
		if word[i] >= 0x80 {
			return ""
		}
	}
	return strings.ToUpper(word)
}
