package payload

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of a pattern. Package regexp reads a text once, but takes a step for each
// part of the pattern at each byte.
const (
	patternBytesMax = 4 << 10
	patternPartsMax = 5_000
)

// pattern is a regular expression whose matching is counted in a budget.
type pattern struct {
	*regexp.Regexp
	parts  int
	budget *budget
}

// patterns returns the engine that compiles the patterns of a schema. A nil budget
// does not limit matching.
func patterns(b *budget) jsonschema.RegexpEngine {
	return func(text string) (jsonschema.Regexp, error) {
		if len(text) > patternBytesMax {
			return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(text), patternBytesMax)
		}
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, unsupported(err)
		}
		parts := countParts(tree)
		if parts > patternPartsMax {
			return nil, errors.New("its nested repetitions are too large to match")
		}
		compiled, err := regexp.Compile(text)
		if err != nil {
			return nil, unsupported(err)
		}
		return &pattern{compiled, parts, b}, nil
	}
}

func unsupported(err error) error {
	var e *syntax.Error
	if errors.As(err, &e) && e.Code == syntax.ErrInvalidPerlOp {
		return fmt.Errorf("%s is not known; look-ahead, look-behind and back references are not supported", truncated(e.Expr))
	}
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %s", e.Code, truncated(e.Expr))
	}
	return err
}

// MatchString reports whether the text contains a match.
func (p *pattern) MatchString(text string) bool {
	if p.budget != nil {
		p.budget.spend(1 + len(text)*p.parts/100)
	}
	return p.Regexp.MatchString(text)
}

// countParts estimates the steps of a pattern with its repetitions expanded.
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
