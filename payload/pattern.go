package payload

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a pattern may cost: package regexp reads a text once, but takes a step
// for each part of the pattern at each byte.
const (
	patternBytesMost = 4 << 10
	patternPartsMost = 5_000
)

// pattern is a regular expression that pays for its work.
type pattern struct {
	*regexp.Regexp
	parts int
	purse *purse
}

// patterns compiles the patterns of a schema, for a purse to pay for. In a
// schema that is only looked at there is none.
func patterns(p *purse) jsonschema.RegexpEngine {
	return func(text string) (jsonschema.Regexp, error) {
		if len(text) > patternBytesMost {
			return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(text), patternBytesMost)
		}
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, unsupported(err)
		}
		parts := countParts(tree)
		if parts > patternPartsMost {
			return nil, errors.New("its repetitions multiply to more than can be matched")
		}
		compiled, err := regexp.Compile(text)
		if err != nil {
			return nil, unsupported(err)
		}
		return &pattern{compiled, parts, p}, nil
	}
}

func unsupported(err error) error {
	var e *syntax.Error
	if errors.As(err, &e) && e.Code == syntax.ErrInvalidPerlOp {
		return fmt.Errorf("%s is not known; look-ahead, look-behind and back references are not supported", shown(e.Expr))
	}
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %s", e.Code, shown(e.Expr))
	}
	return err
}

// MatchString reports whether the text holds a match.
func (p *pattern) MatchString(text string) bool {
	if p.purse != nil {
		p.purse.pay(1 + len(text)*p.parts/100)
	}
	return p.Regexp.MatchString(text)
}

// countParts is about how many steps a pattern has when its repetitions are
// written out.
func countParts(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+countParts(sub), 1<<30)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 1<<30)
}
