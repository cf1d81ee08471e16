package ddl

import "strings"

// skipQuoted returns the end of the string, quoted name, dollar-quoted string or comment that begins at an offset, or
// the offset itself if none begins there.
func skipQuoted(text string, at int) (end int, err *Error) {
	rest := text[at:]
	switch {
	case rest[0] == '\'':
		return skipString(text, at)
	case rest[0] == '"':
		return skipName(text, at)
	case rest[0] == '$':
		return skipDollarQuoted(text, at)
	case isComment(rest):
		return skipComment(text, at)
	}
	return at, nil
}

func skipString(text string, at int) (end int, err *Error) {
	if end := closingQuote(text, at, isEscapeString(text, at)); end > 0 {
		return end, nil
	}
	return 0, newError(text, at, Error{
		Reason: "the string that begins here is not closed", Hint: "end it with '; write '' for a quote inside", State: syntaxError,
	})
}

// isEscapeString reports whether the string at an offset has the prefix E, so that backslashes escape: E'it\'s'.
func isEscapeString(text string, at int) bool {
	return at > 0 && text[at-1]|0x20 == 'e' && (at == 1 || !isInWord(text[at-2]))
}

func skipName(text string, at int) (end int, err *Error) {
	if end := closingQuote(text, at, false); end > 0 {
		return end, nil
	}
	return 0, newError(text, at, Error{
		Reason: "the name that begins here is not closed", Hint: `end it with "; write "" for a quote inside`, State: syntaxError,
	})
}

// closingQuote returns the end of the quoted text at an offset, in which a quote is written twice or, if backslashes
// escape, after a backslash. It returns 0 if there is no end.
func closingQuote(text string, at int, backslashes bool) int {
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && backslashes:
			i++
		case text[i] != text[at]:
		case i+1 == len(text) || text[i+1] != text[at]:
			return i + 1
		default:
			i++
		}
	}
	return 0
}

// skipDollarQuoted finds the end of $tag$…$tag$. If the $ begins no tag, it returns the offset itself.
func skipDollarQuoted(text string, at int) (end int, err *Error) {
	tag := dollarTag(text[at:])
	if tag == "" {
		return at, nil
	}
	body := at + len(tag)
	length := strings.Index(text[body:], tag)
	if length < 0 {
		return 0, newError(text, at, Error{
			Reason: "the string that begins here is not closed", Hint: "end it with " + excerpt(tag), State: syntaxError,
		})
	}
	return body + length + len(tag), nil
}

// tagMax bounds the tag of a string between dollars.
const tagMax = 64

// dollarTag is the $tag$ that a text begins with, or empty.
func dollarTag(text string) string {
	for i := 1; i < len(text) && i < tagMax; i++ {
		c := text[i]
		switch {
		case c == '$':
			return text[:i+1]
		case !isLetter(c) && (i == 1 || !isDigit(c)):
			return ""
		}
	}
	return ""
}

func isComment(text string) bool {
	return strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*")
}

// skipComment finds the end of a comment: that of the line, or the */ that
// belongs to its /*.
func skipComment(text string, at int) (end int, err *Error) {
	if text[at] == '-' {
		if length := strings.IndexByte(text[at:], '\n'); length >= 0 {
			return at + length + 1, nil
		}
		return len(text), nil
	}
	depth := 1
	for i := at + 2; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1, nil
		}
	}
	return 0, newError(text, at, Error{
		Reason: "the comment that begins here is not closed", Hint: "end it with */; each nested comment needs its own */", State: syntaxError,
	})
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isLetter takes every character beyond ASCII for a letter, as SQL does.
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

// isInWord reports whether a character can continue a word.
func isInWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '$' }
