package query

import (
	"errors"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/lexer"
)

func validQueries(t testing.TB) (texts []string) {
	for _, file := range []string{"testdata/queries.txt", "testdata/values.txt", "testdata/clients.txt"} {
		for _, c := range readCases(t, file) {
			texts = append(texts, c.text)
		}
	}
	return texts
}

// mustNotPanic reads a text and looks at the error, if there is one.
func mustNotPanic(t *testing.T, text string) error {
	t.Helper()
	q, err := Parse(text)
	if err == nil {
		_ = show(q) // which panics where the tree has a hole
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %T is not an *Error", text, err)
	}
	if e.Offset < 0 || e.Offset > len(text) || e.State == "" || e.Message == "" {
		t.Fatalf("%s: %+v", text, e)
	}
	return err
}

func allTokens(text string) (tokens []token) {
	s := newScanner(text)
	for {
		t := s.next()
		if t.Kind == lexer.End {
			return tokens
		}
		tokens = append(tokens, t)
	}
}

func TestParseBrokenQueriesDoNotPanic(t *testing.T) {
	for _, text := range validQueries(t) {
		tokens := allTokens(text)
		for i, tok := range tokens {
			mustNotPanic(t, text[:tok.Start])
			mustNotPanic(t, text[tok.Start:])
			mustNotPanic(t, text[:tok.Start]+text[tok.Stop:])
			mustNotPanic(t, text[:tok.Stop]+" "+text[tok.Start:])
			if i > 0 {
				before := tokens[i-1]
				mustNotPanic(t, text[:before.Start]+text[tok.Start:tok.Stop]+" "+text[before.Start:before.Stop]+" "+text[tok.Stop:])
			}
		}
		for i := range text {
			mustNotPanic(t, text[:i])
		}
	}
}

func state(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.State
	}
	return ""
}

func TestParseDeepNestingIsAnError(t *testing.T) {
	for name, nest := range map[string][3]string{
		"parentheses": {"SELECT ", "(", ")"},
		"brackets":    {"SELECT a", "[a", "]"},
		"arrays":      {"SELECT ", "ARRAY[", "]"},
		"calls":       {"SELECT ", "f(", ")"},
		"casts":       {"SELECT ", "CAST(", " AS int)"},
		"cases":       {"SELECT ", "CASE WHEN ", " THEN 1 END"},
		"negations":   {"SELECT ", "NOT ", ""},
		"signs":       {"SELECT ", "- ", ""},
		"queries":     {"SELECT ", "(SELECT ", ")"},
		"sources":     {"SELECT * FROM ", "(", ")"},
		"derived":     {"SELECT * FROM ", "(SELECT * FROM ", ")"},
		"joins":       {"SELECT * FROM a ", "JOIN a ", "ON b "},
		"bodies":      {"", "(", ")"},
	} {
		middle := map[string]string{"bodies": "SELECT 1", "joins": "", "brackets": ""}
		inner, ok := middle[name]
		if !ok {
			inner = " a"
		}
		at := func(n int) error {
			return mustNotPanic(t, nest[0]+strings.Repeat(nest[1], n)+inner+strings.Repeat(nest[2], n))
		}
		if err := at(depthMax - 1); err != nil {
			t.Errorf("%s: %d deep: %v", name, depthMax-1, err)
		}
		if err := at(depthMax + 1); state(err) != stateLimit {
			t.Errorf("%s: %d deep: %v", name, depthMax+1, err)
		}
		if err := at(20_000); state(err) != stateLimit {
			t.Errorf("%s: 20000 deep: %v", name, err)
		}
	}
}

func TestParseLongTextsEndWithinLimits(t *testing.T) {
	for name, c := range map[string]struct{ text, state string }{
		"a long text":       {strings.Repeat(" ", textMax+1), stateLimit},
		"many tokens":       {"SELECT " + strings.Repeat("1,", tokensMax) + "1", stateLimit},
		"many operands":     {"SELECT " + strings.Repeat("a OR ", 40_000) + "a", ""},
		"many unions":       {strings.Repeat("SELECT 1 UNION ", 30_000) + "SELECT 1", ""},
		"many joins":        {"SELECT FROM a" + strings.Repeat(" CROSS JOIN a", 30_000), ""},
		"many casts":        {"SELECT a" + strings.Repeat("::b", 40_000), ""},
		"many subscripts":   {"SELECT a" + strings.Repeat("[1]", 30_000), ""},
		"one long operator": {"SELECT 1 " + strings.Repeat("+", textMax-10), stateLimit},
		"long of others":    {"SELECT 1 " + strings.Repeat("<", textMax-10), stateLimit},
		"open quotation":    {"SELECT '" + strings.Repeat("''", textMax/2-10), stateSyntax},
		"open escapes":      {"SELECT E'" + strings.Repeat(`\`, textMax-10), stateSyntax},
		"open comment":      {"SELECT " + strings.Repeat("/*", textMax/2-10), stateSyntax},
		"open dollars":      {"SELECT $a$" + strings.Repeat("$b$", textMax/3-10), stateSyntax},
		"open bracket":      {"SELECT [" + strings.Repeat("[", textMax-10), stateSyntax},
		"many strings":      {"SELECT 'a'" + strings.Repeat("\n'a'", 200_000), ""},
		"a long word":       {"SELECT " + strings.Repeat("a", textMax-10), ""},
		"a long number":     {"SELECT " + strings.Repeat("1", textMax-10), ""},
		"a long misspelt":   {"SELECT 1 1" + strings.Repeat("a", textMax-20), stateSyntax},
		"a long path":       {"SELECT a" + strings.Repeat(".a", 40_000), ""},
		"a zero byte":       {"SELECT '\x00'", stateEncoding},
		"not UTF-8":         {"SELECT '\xff'", stateEncoding},
	} {
		_, err := Parse(c.text)
		if state(err) != c.state {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range validQueries(f) {
		f.Add(text)
	}
	for _, c := range readCases(f, "testdata/wrong.txt") {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) { _ = mustNotPanic(t, text) })
}
