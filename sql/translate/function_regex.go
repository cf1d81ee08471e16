package translate

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"time"
)

// regexFunctions match patterns.
var regexFunctions = []Function{
	strict("rota_regex", 3, func(a arguments) any {
		re, _ := compile(a.text(0), a.text(1), a.text(2))
		return boolean(re.MatchString(a.text(0)))
	}),
	strict("rota_regex_substr", 2, regexSubstr),
	strict("rota_regex_replace", 4, regexReplace),
}

// pattern is a compiled pattern with its number of steps.
type pattern struct {
	*regexp.Regexp
	steps int
}

// patterns caches compiled patterns.
var patterns struct {
	sync.Mutex
	known map[string]*pattern
}

// Limits of a pattern. A running match cannot be cancelled.
const (
	patternMax   = 10_000                 // bytes
	stepsMax     = 50_000                 // of a pattern
	matchingMost = 50_000_000             // steps times bytes of the text
	findingMost  = 500 * time.Millisecond // for all that is found in a text
)

func patternTooCostly() *Error {
	return valueError(StateLimit, "the regular expression is too costly for this text").WithHint("use a shorter text or a simpler pattern")
}

// find returns the first match, or all.
func (p *pattern) find(text string, all bool) [][]int {
	if all {
		return p.findAll(text)
	}
	return p.FindAllStringSubmatchIndex(text, 1)
}

// findAll are the places where a pattern is found. To find each may cost as much as to read the
// whole text, so that of a long one we take more and more until it has taken too long.
func (p *pattern) findAll(text string) [][]int {
	if p.steps*len(text) < matchingMost/(len(text)+1) {
		return p.FindAllStringSubmatchIndex(text, -1) // a short text
	}
	begin := time.Now()
	for most := 4; ; most *= 2 {
		found := p.FindAllStringSubmatchIndex(text, most)
		if len(found) < most {
			return found
		}
		if time.Since(begin) > findingMost || most*(1+p.NumSubexp()) > documentValuesMax {
			panic(patternTooCostly())
		}
	}
}

// compile compiles a pattern. Flags: i ignores case, with n and m the signs ^ and $ match at
// lines, s is the default, and g requests all matches.
func compile(text, written, flags string) (re *pattern, all bool) {
	prefix := "s"
	for _, f := range flags {
		switch f {
		case 'i':
			prefix += "i"
		case 'n', 'm', 'p', 'w':
			prefix = strings.Replace(prefix, "s", "", 1) + "m"
		case 'g':
			all = true
		case 's', 'c', 't', 'e':
		default:
			panic(valueError(StateValue, "invalid regular expression option: %q", string(f)))
		}
	}
	if prefix != "" {
		prefix = "(?" + prefix + ")"
	}
	re = compiled(prefix + goPattern(written))
	if re.steps*len(text) > matchingMost {
		panic(patternTooCostly())
	}
	return re, all
}

// goPattern converts a pattern to Go's syntax, which has other names for \m, \M, \y, \A and \Z.
func goPattern(pattern string) string {
	pattern = strings.TrimPrefix(pattern, "***:")
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		i++
		switch pattern[i] {
		case 'm', 'M', 'y':
			b.WriteString(`\b`)
		case 'Y':
			b.WriteString(`\B`)
		case 'Z':
			b.WriteString(`\z`)
		default:
			b.WriteString(pattern[i-1 : i+1])
		}
	}
	return b.String()
}

func compiled(written string) *pattern {
	const most = 200
	patterns.Lock()
	defer patterns.Unlock()
	if re := patterns.known[written]; re != nil {
		return re
	}
	if len(written) > patternMax {
		panic(valueError(StateLimit, "regular expression exceeds the limit of %d bytes", patternMax))
	}
	re, steps, err := compilePattern(written)
	if err != nil {
		panic(valueError(StatePattern, "invalid regular expression: %v", err))
	}
	if patterns.known == nil || len(patterns.known) >= most {
		patterns.known = map[string]*pattern{}
	}
	patterns.known[written] = &pattern{re, steps}
	return patterns.known[written]
}

// compilePattern also returns how many steps a pattern has: a short one that repeats may have many.
func compilePattern(written string) (*regexp.Regexp, int, error) {
	tree, err := syntax.Parse(written, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(program.Inst) > stepsMax {
		panic(valueError(StateLimit, "regular expression compiles to more than %d steps", stepsMax).WithHint("use fewer or smaller repetitions"))
	}
	re, err := regexp.Compile(written)
	return re, len(program.Inst), err
}

// regexSubstr is what the first parentheses of a pattern found, or the whole if it has none.
func regexSubstr(a arguments) any {
	re, _ := compile(a.text(0), a.text(1), "")
	m := re.FindStringSubmatchIndex(a.text(0))
	if len(m) > 2 {
		m = m[2:]
	}
	if m == nil || m[0] < 0 {
		return nil
	}
	return a.text(0)[m[0]:m[1]]
}

func regexReplace(a arguments) any {
	re, all := compile(a.text(0), a.text(1), a.text(3))
	text, with := a.text(0), a.text(2)
	found := re.find(text, all)
	var b strings.Builder
	done := 0
	for _, m := range found {
		b.WriteString(text[done:m[0]])
		expandInto(&b, with, text, m)
		done = m[1]
		if b.Len() > valueMax {
			panic(tooLong())
		}
	}
	b.WriteString(text[done:])
	return checkLength(b.String())
}

// expandInto writes a replacement, in which \1 is what the first parentheses found and \&
// the whole.
func expandInto(b *strings.Builder, with, text string, m []int) {
	for i := 0; i < len(with) && b.Len() <= valueMax; i++ {
		if with[i] != '\\' || i+1 == len(with) {
			b.WriteByte(with[i])
			continue
		}
		i++
		group := 0
		switch c := with[i]; {
		case c == '&':
		case c >= '1' && c <= '9':
			group, _ = strconv.Atoi(string(c)) // it is a digit
		case c == '\\':
			b.WriteByte('\\')
			continue
		default:
			b.WriteString(with[i-1 : i+1])
			continue
		}
		if 2*group+1 < len(m) && m[2*group] >= 0 {
			b.WriteString(text[m[2*group]:m[2*group+1]])
		}
	}
}
