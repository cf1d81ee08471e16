package ddl

import (
	"regexp"
	"strings"
)

const uuidLength = 36

// uuid parses a UUID, with or without quotes. Without quotes it is not one token, because its beginning may look like
// a number or a word, so it is read from the text.
func (p *parser) uuid(what string) string {
	if p.err != nil {
		return ""
	}
	if p.tok.kind == stringToken {
		if !isUUID(p.tok.value) {
			p.failAt(p.tok, badValue, excerpt(quoteString(p.tok.value))+" is not a UUID", "write it like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60")
			return ""
		}
		return strings.ToLower(p.advance().value)
	}
	start, end := p.tok.start, p.tok.start+uuidLength
	if p.tok.kind == badToken && p.tok.value == "" {
		p.unexpected(what)
		return ""
	}
	if p.tok.kind == endToken || end > len(p.text) || !isUUID(p.text[start:end]) || end < len(p.text) && isInWord(p.text[end]) {
		p.fail(start, Error{Found: p.tok.found(), Expected: what, Hint: "write it like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"})
		return ""
	}
	p.continueAt(end)
	return strings.ToLower(p.text[start:end])
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func isUUID(text string) bool { return len(text) == uuidLength && uuidPattern.MatchString(text) }
