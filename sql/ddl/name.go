package ddl

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// name parses a name. What describes it in errors, for example "the name of a job".
func (p *parser) name(what string) string {
	name := ""
	switch p.tok.Kind {
	case lexer.Word:
		name = strings.ToLower(p.tok.Text)
	case lexer.Name:
		name = p.tok.Text
	case lexer.String:
		p.fail(p.tok.Start, Error{Found: "a string", Expected: what, Hint: `write a name without quotes or in "double quotes"`})
		return ""
	default:
		p.unexpected(what)
		return ""
	}
	if !p.checkName(what, name) {
		return ""
	}
	p.advance()
	return name
}

func (p *parser) checkName(what, name string) bool {
	switch {
	case name == "":
		p.failAt(p.tok, "", what+" is empty", `write it between the quotes`)
	case len(name) > NameMax:
		p.failAt(p.tok, nameTooLong, fmt.Sprintf("%s has %d bytes; at most %d are allowed", what, len(name), NameMax), "shorten it")
	default:
		return true
	}
	return false
}

// names parses a list of distinct names. Place names the place of each. More reports whether the list continues after a
// name.
func (p *parser) names(what string, place func(string) string, more func() bool) []string {
	return p.distinct(func() string {
		at := p.tok
		name := p.name(what)
		p.markAt(place(name), at)
		return name
	}, func(name string) string { return excerpt(printName(name)) }, more)
}

// distinct parses a list of distinct entries. Show describes an entry in an error.
func (p *parser) distinct(read func() string, show func(string) string, more func() bool) []string {
	var list []string
	seen := map[string]bool{}
	for {
		at := p.tok
		entry := read()
		if p.err != nil {
			return nil
		}
		if seen[entry] {
			p.failAt(at, badValue, show(entry)+" is named twice", "remove one of them")
			return nil
		}
		seen[entry] = true
		list = append(list, entry)
		if !more() || !p.checkLength(len(list)) {
			return list
		}
	}
}

// checkLength refuses one more than a list may have.
func (p *parser) checkLength(length int) bool {
	if length < ListMax {
		return true
	}
	p.failAt(p.tok, limitExceeded, fmt.Sprintf("the list has more than %d entries", ListMax), "shorten it")
	return false
}

// comma takes the comma between two entries of a list.
func (p *parser) comma() bool { return p.acceptSymbol(",") }

// namesToQuote are keywords that are allowed in the same position as a name. Print quotes a name that equals one.
var namesToQuote = map[string]bool{
	"if": true, "none": true, "all": true, "admin": true, "create": true, "alter": true, "drop": true, "execute": true, "view": true,
	"current_user": true, "session_user": true, "current_role": true,
}

// printName writes a name so that it is read as the same one.
func printName(name string) string {
	if needsNoQuotes(name) && !namesToQuote[name] {
		return name
	}
	return quoteName(name)
}

// needsNoQuotes reports whether a name needs no quotes. Letters beyond ASCII get some:
// not every one of them stays the same in lower case.
func needsNoQuotes(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || !lexer.IsDigit(c)) {
			return false
		}
	}
	return name != ""
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteString(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
