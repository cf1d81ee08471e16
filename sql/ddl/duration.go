package ddl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/lexer"
)

// unit is a word for a length of time.
type unit struct {
	word   string // in the plural
	length time.Duration
}

// units are in the order in which errors list them.
var units = []unit{
	{"SECONDS", time.Second},
	{"MINUTES", time.Minute},
	{"HOURS", time.Hour},
	{"DAYS", 24 * time.Hour},
	{"WEEKS", 7 * 24 * time.Hour},
	{"MILLISECONDS", time.Millisecond},
}

// unitLength returns the length of a unit, given in the singular or plural, or 0 if there is no such unit.
func unitLength(word string) time.Duration {
	for _, u := range units {
		if word == u.word || word == strings.TrimSuffix(u.word, "S") {
			return u.length
		}
	}
	return 0
}

func unitWords() []string {
	words := make([]string, len(units))
	for i, u := range units {
		words[i] = u.word
	}
	return words
}

// interval parses an interval of whole seconds. With bareNumber, a number without a unit is seconds, and 0 is allowed.
func (p *parser) interval(clause string, bareNumber bool) time.Duration {
	start := p.tok
	d := p.duration(bareNumber)
	if p.err != nil {
		return 0
	}
	least := "write at least 1 SECOND"
	if bareNumber {
		least = "write 0 or more"
	}
	written := excerpt(p.Text[start.Start:p.stop])
	switch {
	case d < 0:
		p.failAt(start, badValue, clause+" "+written+" is negative", least)
	case d == 0 && !bareNumber:
		p.failAt(start, badValue, clause+" "+written+" is too short", least)
	case d%time.Second != 0:
		p.failAt(start, badValue, clause+" "+written+" is not a whole number of seconds", "round it to seconds")
	case bareNumber && d > math.MaxInt32*time.Second:
		p.failAt(start, badValue, clause+" "+written+" is too long", fmt.Sprintf("write at most %d SECONDS", math.MaxInt32))
	default:
		return d
	}
	return 0
}

// duration reads 5 MINUTES, 1 HOUR 30 MINUTES, '90s', '5 minutes', INTERVAL before any
// of them, and INTERVAL '5' MINUTE.
func (p *parser) duration(bareNumber bool) time.Duration {
	interval := p.accept("INTERVAL")
	if p.tok.Kind == lexer.String {
		at := p.advance()
		if interval && unitLength(p.tok.upper) > 0 && isWhole(at.Text) { // INTERVAL '5' MINUTE
			return p.amount(at, at.Text, p.unit())
		}
		d, ok := parseDuration(at.Text)
		if !ok {
			p.failAt(at, badValue, excerpt(quoteString(at.Text))+" is not an interval", "write it like 90 SECONDS, '90s' or '1h30m'")
		}
		return d
	}
	return p.amounts(bareNumber)
}

// isWhole reports whether a text is a whole number.
func isWhole(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// amounts reads 1 HOUR 30 MINUTES.
func (p *parser) amounts(bareNumber bool) time.Duration {
	text, at := p.signedNumber("an interval, such as 90 SECONDS or '1h30m'")
	if p.err != nil {
		return 0
	}
	if bareNumber && !p.looksLikeUnit() {
		return p.amount(at, text, time.Second)
	}
	d := p.amount(at, text, p.unit())
	for p.err == nil && p.tok.Kind == lexer.Number {
		at := p.advance()
		next := p.amount(at, at.Text, p.unit())
		if d > math.MaxInt64-max(next, 0) {
			p.intervalTooLong(at)
		}
		d += next
	}
	return d
}

// looksLikeUnit reports whether the next token is a unit or a misspelled one. Any other word begins a clause.
func (p *parser) looksLikeUnit() bool {
	if p.tok.Kind != lexer.Word {
		return false
	}
	p.steps += len(units)
	return unitLength(p.tok.upper) > 0 || suggestion(p.tok.Text, unitWords()) != ""
}

func (p *parser) unit() time.Duration {
	length := unitLength(p.tok.upper)
	if length == 0 {
		words := unitWords()
		p.unexpected("a unit ("+strings.Join(words, ", ")+")", words...)
		return 0
	}
	p.advance()
	return length
}

// amount multiplies a number by a unit.
func (p *parser) amount(at token, number string, unit time.Duration) time.Duration {
	if p.err != nil {
		return 0
	}
	if strings.ContainsAny(number, ".eE") {
		p.failAt(at, badValue, excerpt(number)+" is not a whole number", "use a smaller unit")
		return 0
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > int64(math.MaxInt64/unit) || n < int64(math.MinInt64/unit) {
		p.intervalTooLong(at)
		return 0
	}
	return time.Duration(n) * unit
}

func (p *parser) intervalTooLong(at token) {
	p.failAt(at, badValue, "the interval is too long", "the maximum is 292 years")
}

// durationMax bounds the strings that are read as lengths of time.
const durationMax = 200

// parseDuration reads 1h30m and, in words, 1 hour 30 minutes.
func parseDuration(text string) (time.Duration, bool) {
	if len(text) > durationMax {
		return 0, false
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, true
	}
	words, err := newParser(text)
	if err != nil {
		return 0, false
	}
	d := words.amounts(false)
	return d, words.err == nil && words.tok.Kind == lexer.End
}

// printInterval writes whole seconds in the longest unit that they fill.
func printInterval(d time.Duration) string {
	best := unit{"SECONDS", time.Second}
	for _, u := range units {
		if d > 0 && u.length > best.length && d%u.length == 0 {
			best = u
		}
	}
	n := int64(d / best.length)
	if n == 1 {
		return "1 " + strings.TrimSuffix(best.word, "S")
	}
	return strconv.FormatInt(n, 10) + " " + best.word
}
