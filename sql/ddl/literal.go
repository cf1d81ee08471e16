package ddl

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// stringLiteral parses a string. What describes it in errors, for example "a cron expression".
func (p *parser) stringLiteral(what string) string {
	if p.tok.Kind != lexer.String {
		p.unexpected(what + " in single quotes")
		return ""
	}
	return p.advance().Text
}

// nonEmptyString reads a string with something in it.
func (p *parser) nonEmptyString(what string) string {
	at := p.tok
	text := p.stringLiteral(what)
	if p.err == nil && strings.TrimSpace(text) == "" {
		p.failAt(at, badValue, what+" is empty", "write it between the quotes")
	}
	return text
}

// secretLiteral parses a string. Its errors never contain the text, quoted or not.
func (p *parser) secretLiteral(what string) string {
	switch kind := p.tok.Kind; {
	case kind == lexer.Word, kind == lexer.Name, kind == lexer.Number, p.tok.err != nil:
		p.fail(p.tok.Start, Error{Found: "a value without quotes", Expected: what + " in single quotes"})
		return ""
	}
	return p.stringLiteral(what)
}

// signedNumber reads a number with or without a sign.
func (p *parser) signedNumber(what string) (number string, at token) {
	at = p.tok
	sign := ""
	if p.acceptSymbol("-") {
		sign = "-"
	} else {
		p.acceptSymbol("+")
	}
	if p.tok.Kind != lexer.Number {
		p.unexpected(what)
		return "", at
	}
	return sign + p.advance().Text, at
}

// wholeNumber reads the number of a clause. The columns of sys hold 32 bits.
func (p *parser) wholeNumber(clause string, least int) *int {
	text, at := p.signedNumber("a whole number")
	if p.err != nil {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	inRange := fmt.Sprintf("write a whole number from %d to %d", least, math.MaxInt32)
	switch {
	case strings.ContainsAny(text, ".eE"):
		p.failAt(at, badValue, fmt.Sprintf("%s %s is not a whole number", clause, excerpt(text)), inRange)
	case err != nil || n < int64(least) || n > math.MaxInt32:
		p.failAt(at, badValue, fmt.Sprintf("%s %s is out of range", clause, excerpt(text)), inRange)
	default:
		value := int(n)
		return &value
	}
	return nil
}

// literal reads an argument.
func (p *parser) literal() Value {
	switch {
	case p.accept("NULL"):
		return Value{Kind: Null}
	case p.accept("TRUE"):
		return Value{Kind: Bool, Text: "true"}
	case p.accept("FALSE"):
		return Value{Kind: Bool, Text: "false"}
	case p.tok.Kind == lexer.String:
		return Value{Kind: String, Text: p.advance().Text}
	case p.tok.Kind == lexer.Word || p.tok.Kind == lexer.Name:
		p.unexpected("a literal (a string, a number, TRUE, FALSE or NULL)", "NULL", "TRUE", "FALSE")
		return Value{}
	}
	text, _ := p.signedNumber("a literal (a string, a number, TRUE, FALSE or NULL)")
	return Value{Kind: Number, Text: jsonNumber(text)}
}

// jsonNumber leaves out the zeros before a number, which JSON does not know.
func jsonNumber(text string) string {
	digits, negative := strings.CutPrefix(text, "-")
	for len(digits) > 1 && digits[0] == '0' && lexer.IsDigit(digits[1]) {
		digits = digits[1:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

func (v Value) print() string {
	switch v.Kind {
	case Null:
		return "NULL"
	case String:
		return quoteString(v.Text)
	case Bool:
		return strings.ToUpper(v.Text)
	default:
		return v.Text
	}
}
