package drivertest

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// tokens is a query cut into words, marks, texts and what stands between them.
type tokens []string

var token = regexp.MustCompile(`[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"[^"]*"|--[^\n]*\n?|(?s:/\*.*?\*/)|\s+|[A-Za-z_][\w$]*|\d+(?:\.\d+)?|::|[~!<>=|&#@%^?]+|.`)

func tokensOf(text string) tokens {
	var list tokens
	for _, one := range token.FindAllString(strings.TrimRight(strings.TrimSpace(text), ";"), -1) {
		if strings.TrimSpace(one) != "" {
			list = append(list, one)
		}
	}
	return list
}

func (t tokens) String() string { return strings.Join(t, " ") }

func isWord(one string) bool {
	return regexp.MustCompile(`^[A-Za-z_]`).MatchString(one) && !strings.Contains(one, "'")
}

func (t tokens) is(i int, words ...string) bool {
	return i >= 0 && i < len(t) && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, t[i]) })
}

// mutation rewrites a query to an equivalent one. It may find nothing to change.
type mutation struct {
	name string
	do   func(t tokens, random *rand.Rand) tokens
}

// mutations produce forms that common tools do not use.
var mutations = []mutation{
	{"comments", addComments},
	{"capitals", changeCase},
	{"CAST", castFunction},
	{"parentheses", parenthesise},
	{"conditions reversed", reverseConditions},
	{"other aliases", renameAliases},
	{"joins spelled out", spellOutJoins},
	{"= ANY for IN", anyForIn},
	{"IN for =", inForEqual},
	{"operators", changeOperators},
	{"no AS", withoutAS},
	{"FETCH FIRST", fetchFirst},
	{"as a subquery", asSubquery},
	{"as a common table", asCommonTable},
	{"conditions negated twice", negateTwice},
}

func addComments(t tokens, random *rand.Rand) (out tokens) {
	for _, one := range t {
		out = append(out, one)
		switch random.IntN(4) {
		case 0:
			out = append(out, "/* it's a; comment */")
		case 1:
			out = append(out, "-- and \"another\n")
		}
	}
	return out
}

// changeCase writes words in other letters. Names without quotes fold to the same.
func changeCase(t tokens, random *rand.Rand) (out tokens) {
	for _, one := range t {
		if isWord(one) {
			if random.IntN(2) == 0 {
				one = strings.ToUpper(one)
			} else {
				one = strings.ToLower(one)
			}
		}
		out = append(out, one)
	}
	return out
}

// castFunction writes x::type as CAST(x AS type), where x is a name or a text.
func castFunction(t tokens, _ *rand.Rand) tokens {
	out := slices.Clone(t)
	for i := 1; i < len(out)-1; i++ {
		if out[i] != "::" {
			continue
		}
		from, to := i-1, i+2
		if !isWord(out[from]) && !strings.HasPrefix(out[from], "'") || !isWord(out[i+1]) {
			continue
		}
		for from >= 2 && out[from-1] == "." {
			from -= 2
		}
		for to+1 < len(out) && out[to] == "." {
			to += 2
		}
		if out.is(to, "[", "(", "::", "varying", "precision", "with", "without") || out.is(from-1, "::", "interval", "date", "timestamp", "E") {
			continue
		}
		cast := slices.Concat(tokens{"CAST", "("}, out[from:i], tokens{"AS"}, out[i+1:to], tokens{")"})
		out = slices.Concat(out[:from], cast, out[to:])
		i = from + len(cast)
	}
	return out
}

// mapConditions calls do with each condition behind WHERE or ON, the last first.
func mapConditions(t tokens, do func(condition tokens) tokens) tokens {
	out := slices.Clone(t)
	for i := len(out) - 1; i >= 0; i-- {
		if !out.is(i, "WHERE") {
			continue
		}
		end, depth := i+1, 0
		for ; end < len(out); end++ {
			switch {
			case out[end] == "(" || out[end] == "[":
				depth++
			case out[end] == ")" || out[end] == "]":
				depth--
			}
			if depth < 0 || depth == 0 && out.is(end, "ORDER", "GROUP", "UNION", "HAVING", "LIMIT", "EXCEPT", "INTERSECT", "WINDOW", "OFFSET", "FETCH") {
				break
			}
		}
		out = slices.Concat(out[:i+1], do(out[i+1:end]), out[end:])
	}
	return out
}

func parenthesise(t tokens, _ *rand.Rand) tokens {
	return mapConditions(t, func(c tokens) tokens { return slices.Concat(tokens{"(", "("}, c, tokens{")", ")"}) })
}

func negateTwice(t tokens, _ *rand.Rand) tokens {
	return mapConditions(t, func(c tokens) tokens { return slices.Concat(tokens{"NOT", "(", "NOT", "("}, c, tokens{")", ")"}) })
}

// reverseConditions puts the conditions that all must hold into the opposite order.
func reverseConditions(t tokens, _ *rand.Rand) tokens {
	return mapConditions(t, func(c tokens) tokens {
		var parts []tokens
		depth, from := 0, 0
		for i := range c {
			switch {
			case c.is(i, "(", "[", "CASE"):
				depth++
			case c.is(i, ")", "]", "END"):
				depth--
			case depth > 0:
			case c.is(i, "OR", "BETWEEN"):
				return c
			case c.is(i, "AND"):
				parts, from = append(parts, c[from:i]), i+1
			}
		}
		parts = append(parts, c[from:])
		slices.Reverse(parts)
		var out tokens
		for i, p := range parts {
			if i > 0 {
				out = append(out, "AND")
			}
			out = append(out, p...)
		}
		return out
	})
}

// schemas stand before a point and are no aliases.
var schemas = []string{"pg_catalog", "information_schema", "sys", "public"}

// renameAliases gives the sources of a query other names.
func renameAliases(t tokens, _ *rand.Rand) tokens {
	aliases := map[string]bool{}
	for i := range t {
		if isWord(t[i]) && t.is(i+1, ".") && !t.is(i-1, ".") && !slices.Contains(schemas, strings.ToLower(t[i])) && !t.is(i-1, "::", "COLLATE") {
			aliases[t[i]] = true
		}
	}
	out := slices.Clone(t)
	for i := range t {
		if !aliases[t[i]] || t.is(i-1, ".") || t.is(i-1, "::") {
			continue
		}
		defines := i > 0 && (t[i-1] == ")" || isWord(t[i-1]) && (t.is(i-1, "AS") || t.is(i-2, ".", "FROM", "JOIN", ","))) && !t.is(i+1, ".", "(")
		if defines || t.is(i+1, ".") {
			out[i] = "Other_" + t[i]
		}
	}
	return out
}

func spellOutJoins(t tokens, _ *rand.Rand) (out tokens) {
	for i, one := range t {
		switch {
		case t.is(i, "LEFT", "RIGHT", "FULL") && t.is(i+1, "JOIN"):
			out = append(out, one, "OUTER")
		case t.is(i, "JOIN") && !t.is(i-1, "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "INNER", "NATURAL"):
			out = append(out, "INNER", one)
		default:
			out = append(out, one)
		}
	}
	return out
}

var quotedWord = regexp.MustCompile(`^'\w+'$`)

// anyForIn writes x IN ('a', 'b') as x = ANY ('{a,b}').
func anyForIn(t tokens, _ *rand.Rand) (out tokens) {
	for i := 0; i < len(t); i++ {
		end := i + 2
		var list []string
		for t.is(i, "IN") && t.is(i+1, "(") && end+1 < len(t) && quotedWord.MatchString(t[end]) {
			list = append(list, strings.Trim(t[end], "'"))
			if end++; t[end] == ")" {
				break
			}
			end++
		}
		if len(list) == 0 || t[end] != ")" || t.is(i-1, "NOT") {
			out = append(out, t[i])
			continue
		}
		out = append(out, "=", "ANY", "(", "'{"+strings.Join(list, ",")+"}'", ")")
		i = end
	}
	return out
}

// inForEqual writes = 'a' as IN ('a').
func inForEqual(t tokens, _ *rand.Rand) (out tokens) {
	for i := 0; i < len(t); i++ {
		if t[i] == "=" && i+1 < len(t) && quotedWord.MatchString(t[i+1]) && !t.is(i+2, "::", "||", ".") && !t.is(i-1, "(", ".") {
			out = append(out, "IN", "(", t[i+1], ")")
			i++
			continue
		}
		out = append(out, t[i])
	}
	return out
}

// changeOperators are written as OPERATOR(pg_catalog.=), or no more.
func changeOperators(t tokens, _ *rand.Rand) (out tokens) {
	for i := 0; i < len(t); i++ {
		switch {
		case t.is(i, "OPERATOR") && t.is(i+1, "(") && t.is(i+3, ".") && t.is(i+5, ")"):
			out = append(out, t[i+4])
			i += 5
		case t[i] == "<>":
			out = append(out, "!=")
		case t[i] == "=" && !t.is(i+1, "ANY", "ALL", "SOME"):
			out = append(out, "OPERATOR", "(", "pg_catalog", ".", "=", ")")
		default:
			out = append(out, t[i])
		}
	}
	return out
}

func withoutAS(t tokens, _ *rand.Rand) (out tokens) {
	for i, one := range t {
		if !t.is(i, "AS") || i+1 >= len(t) || !strings.HasPrefix(t[i+1], `"`) {
			out = append(out, one)
		}
	}
	return out
}

func fetchFirst(t tokens, _ *rand.Rand) tokens {
	if i := len(t) - 2; t.is(i, "LIMIT") {
		return slices.Concat(t[:i], tokens{"FETCH", "FIRST", t[i+1], "ROWS", "ONLY"})
	}
	return slices.Concat(t, tokens{"OFFSET", "0", "ROWS", "FETCH", "NEXT", "100000", "ROWS", "ONLY"})
}

func asSubquery(t tokens, _ *rand.Rand) tokens {
	return slices.Concat(tokens{"SELECT", "*", "FROM", "("}, t, tokens{")", "AS", "within"})
}

func asCommonTable(t tokens, _ *rand.Rand) tokens {
	if t.is(0, "WITH") {
		return t
	}
	return slices.Concat(tokens{"WITH", "common", "AS", "("}, t, tokens{")", "SELECT", "*", "FROM", "common"})
}
