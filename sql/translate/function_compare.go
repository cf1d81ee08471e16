package translate

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// compareFunctions replace functions of SQLite that compare or cut texts in another way than PostgreSQL, or whose time is
// not bounded.
var compareFunctions = []Function{
	strict("like", 2, func(a arguments) any { return like(a, identity) }),
	strict("like", 3, func(a arguments) any { return like(a, identity) }),
	strict("regexp", 2, func(a arguments) any { return like(a, strings.ToLower) }), // how ILIKE is written for SQLite
	strict("regexp", 3, func(a arguments) any { return like(a, strings.ToLower) }),
	strict("instr", 2, func(a arguments) any {
		at := strings.Index(a.text(0), a.text(1))
		if at < 0 {
			return int64(0)
		}
		return int64(utf8.RuneCountInString(a.text(0)[:at])) + 1
	}),
	strict("replace", 3, func(a arguments) any {
		text, from, to := a.text(0), a.text(1), a.text(2)
		if from == "" {
			return text
		}
		if n := strings.Count(text, from); len(text)+n*(len(to)-len(from)) > valueMax {
			panic(tooLong())
		}
		return strings.ReplaceAll(text, from, to)
	}),
	strict("char_length", 1, func(a arguments) any { return int64(utf8.RuneCountInString(a.text(0))) }),
	strict("left", 2, func(a arguments) any { text, n := a.cut(); return string(text[:n]) }),
	strict("right", 2, func(a arguments) any { text, n := a.cut(); return string(text[len(text)-n:]) }),
	withNulls("greatest", -1, func(a arguments) any { return extreme(a, 1) }),
	withNulls("least", -1, func(a arguments) any { return extreme(a, -1) }),
}

func identity(text string) string { return text }

// cut returns the letters of a text and how many of them to take. A negative number means all but so many.
func (a arguments) cut() ([]rune, int) {
	text, n := []rune(a.text(0)), a.int(1)
	if n < 0 {
		n += int64(len(text))
	}
	return text, int(min(max(n, 0), int64(len(text))))
}

// Limits of LIKE. A running function cannot be cancelled.
const (
	likePatternMax = 50_000     // characters
	likeStepsMax   = 50_000_000 // comparisons of characters
)

// like reports whether a text matches a pattern. SQLite passes the pattern first.
func like(a arguments, fold func(string) string) any {
	escape := '\\'
	if len(a) == 3 {
		escape, _ = utf8.DecodeRuneInString(a.text(2))
	}
	pattern := []rune(fold(a.text(0)))
	if len(pattern) > likePatternMax {
		panic(valueError(StateLimit, "the pattern has more than %d characters", likePatternMax).WithHint("shorten it"))
	}
	return boolean(matchesPattern([]rune(fold(a.text(1))), pattern, escape))
}

// matchesPattern compares both from left to right. At a mismatch it goes back to the last percent sign, which then
// matches one character more. This takes up to len(text) × len(pattern) steps.
func matchesPattern(text, pattern []rune, escape rune) bool {
	t, p, mark, from := 0, 0, -1, 0
	for steps := 0; t < len(text); steps++ {
		if steps > likeStepsMax {
			panic(valueError(StateLimit, "the pattern is too costly for this text").WithHint("use a shorter text or a simpler pattern"))
		}
		switch {
		case p < len(pattern) && pattern[p] == '%':
			mark, from = p, t
			p++
			continue
		case p < len(pattern) && pattern[p] == escape && p+1 < len(pattern):
			if pattern[p+1] == text[t] {
				p, t = p+2, t+1
				continue
			}
		case p < len(pattern) && (pattern[p] == '_' || pattern[p] == text[t]):
			p, t = p+1, t+1
			continue
		}
		if mark < 0 {
			return false
		}
		from++
		p, t = mark+1, from
	}
	return strings.Trim(string(pattern[p:]), "%") == ""
}

// extreme is the greatest or the least of the values that are not NULL.
func extreme(a arguments, sign int) (best any) {
	for _, v := range a {
		if v != nil && (best == nil || sign*compareValues(v, best) > 0) {
			best = v
		}
	}
	return best
}

func compareValues(x, y any) int {
	a, isA := x.(int64)
	b, isB := y.(int64)
	_, textX := x.(string)
	_, textY := y.(string)
	switch {
	case isA && isB: // a float would lose what is beyond 53 bits
		return cmp.Compare(a, b)
	case textX || textY:
		return strings.Compare(asText(x), asText(y))
	}
	return cmp.Compare(realOf(x), realOf(y))
}
