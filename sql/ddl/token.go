package ddl

import "strings"

// tokenKind is the kind of a token.
type tokenKind int

const (
	endToken    tokenKind = iota // the end of the text
	wordToken                    // a keyword or a bare name
	nameToken                    // a "name"
	stringToken                  // a 'string', or one between dollars
	numberToken                  // without a sign
	symbolToken                  // one character that is nothing else
	badToken                     // a lexical error, in err
)

// token is a part of a statement. Its value is the text of a word, or the text between quotes.
type token struct {
	kind  tokenKind
	start int // in bytes
	stop  int
	value string
	upper string // of a word, if it may be a keyword
	err   *Error // of a badToken; reported, with its position, only where no UUID is allowed
}

// is reports whether the token is this keyword.
func (t token) is(keyword string) bool { return t.kind == wordToken && t.upper == keyword }

func (t token) isSymbol(mark string) bool { return t.kind == symbolToken && t.value == mark }

// ends reports whether nothing follows that belongs to the statement.
func (t token) ends() bool { return t.kind == endToken || t.isSymbol(";") }

// found names the token for an error. What strings hold is not repeated: it may
// be a password.
func (t token) found() string {
	switch {
	case t.ends():
		return "the end of the statement"
	case t.isSymbol(","):
		return "a comma"
	case t.kind == stringToken:
		return "a string"
	case t.kind == nameToken:
		return excerpt(quoteName(t.value))
	default:
		return excerpt(t.value)
	}
}

// keywordMax is longer than any keyword; longer words are not compared with keywords.
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
