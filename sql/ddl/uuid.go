package ddl

import (
	"regexp"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

const uuidLength = 36

// uuid parses a UUID, with or without quotes. Without quotes it is not one token, because its beginning may look like
// a number or a word, so it is read from the text.
func (p *parser) uuid(what string) string {
	if p.err != nil {
		return ""
	}
	if p.tok.Kind == lexer.String {
		if !isUUID(p.tok.Text) {
			p.failAt(p.tok, badValue, excerpt(quoteString(p.tok.Text))+" is not a UUID", "write it like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60")
			return ""
		}
		return strings.ToLower(p.advance().Text)
	}
	start, end := p.tok.Start, p.tok.Start+uuidLength
	if p.tok.err != nil && p.tok.Text == "" {
		p.unexpected(what)
		return ""
	}
	if p.tok.Kind == lexer.End || end > len(p.Text) || !isUUID(p.Text[start:end]) || end < len(p.Text) && lexer.InWord(p.Text[end]) {
		p.fail(start, Error{Found: p.found(), Expected: what, Hint: "write it like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"})
		return ""
	}
	p.continueAt(end)
	return strings.ToLower(p.Text[start:end])
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func isUUID(text string) bool { return len(text) == uuidLength && uuidPattern.MatchString(text) }
