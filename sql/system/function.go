package system

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"zombiezen.com/go/sqlite"
)

type scalar = func(sqlite.Context, []sqlite.Value) (sqlite.Value, error)

// addPostgresFunctions registers functions of PostgreSQL that SQLite lacks, and makes LIKE case-sensitive as in
// PostgreSQL.
func (d *memoryDB) addPostgresFunctions() error {
	if err := d.conn.SetCollation(timeCollation, func(a, b string) int { return strings.Compare(normalizedTime(a), normalizedTime(b)) }); err != nil {
		return err
	}
	for _, f := range []struct {
		name     string
		args     int
		call     scalar
		volatile bool // the result may differ between calls
	}{
		{"now", 0, d.now, true},
		{"like", 2, d.like(identity), false},
		{"like", 3, d.like(identity), false},
		{"regexp", 2, d.like(strings.ToLower), false}, // how ILIKE is written for SQLite
		{"regexp", 3, d.like(strings.ToLower), false},
		{"instr", 2, instr, false},
		{"replace", 3, d.replace, false},
		{"char_length", 1, charLength, false},
		{"left", 2, left, false},
		{"right", 2, right, false},
		{"greatest", -1, greatestOrLeast(1), false},
		{"least", -1, greatestOrLeast(-1), false},
	} {
		one := &sqlite.FunctionImpl{NArgs: f.args, Scalar: f.call, Deterministic: !f.volatile, AllowIndirect: true}
		if err := d.conn.CreateFunction(f.name, one); err != nil {
			return err
		}
	}
	return nil
}

// now is the time of the statement, which is the store's.
func (d *memoryDB) now(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
	view, err := d.query.store()
	if err != nil {
		return null, d.query.fail(err)
	}
	return timestamp(view.Now()), nil
}

func identity(s string) string { return s }

// like reports whether a text matches a pattern. SQLite passes the pattern first.
func (d *memoryDB) like(fold func(string) string) scalar {
	return func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
		for _, a := range args {
			if a.Type() == sqlite.TypeNull {
				return null, nil
			}
		}
		escape := '\\'
		if len(args) == 3 {
			escape, _ = utf8.DecodeRuneInString(args[2].Text())
		}
		pattern := []rune(fold(args[0].Text()))
		if len(pattern) > patternMax {
			return null, d.query.fail(&Error{State: StateLimit, Offset: -1, Message: fmt.Sprintf("the pattern has more than %d characters", patternMax), Hint: "shorten it"})
		}
		fit, err := matchesPattern(d.query.ctx, []rune(fold(args[1].Text())), pattern, escape)
		if err != nil {
			return null, d.query.fail(err)
		}
		return boolean(fit), nil
	}
}

// patternMax is how many characters a pattern may have.
const patternMax = 50_000

// matchesPattern compares both from left to right. At a mismatch it goes back to the last percent sign, which then
// matches one character more. This takes up to len(text) × len(pattern) steps, so it checks the context regularly.
func matchesPattern(ctx context.Context, text, pattern []rune, escape rune) (bool, error) {
	t, p, mark, from, steps := 0, 0, -1, 0, 0
	for t < len(text) {
		if steps++; steps%(1<<14) == 0 && ctx.Err() != nil {
			return false, ctx.Err()
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
			return false, nil
		}
		from++
		p, t = mark+1, from
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern), nil
}

// instr returns the position of a text in another, from 1. SQLite's own instr takes time proportional to the product of
// the lengths and cannot be interrupted.
func instr(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	if args[0].Type() == sqlite.TypeNull || args[1].Type() == sqlite.TypeNull {
		return null, nil
	}
	text := args[0].Text()
	at := strings.Index(text, args[1].Text())
	if at < 0 {
		return integer(0), nil
	}
	return integer(int64(utf8.RuneCountInString(text[:at])) + 1), nil
}

func (d *memoryDB) replace(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	for _, a := range args {
		if a.Type() == sqlite.TypeNull {
			return null, nil
		}
	}
	text, from, to := args[0].Text(), args[1].Text(), args[2].Text()
	if from == "" {
		return notNullText(text), nil
	}
	if n := strings.Count(text, from); len(text)+n*(len(to)-len(from)) > valueMax {
		return null, d.query.fail(&Error{State: StateLimit, Offset: -1, Message: fmt.Sprintf("a value is longer than %d bytes", valueMax), Hint: "select shorter values"})
	}
	return notNullText(strings.ReplaceAll(text, from, to)), nil
}

func charLength(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	if args[0].Type() == sqlite.TypeNull {
		return null, nil
	}
	return integer(int64(utf8.RuneCountInString(args[0].Text()))), nil
}

func left(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	return cutText(args, func(text []rune, n int) []rune { return text[:n] })
}

func right(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	return cutText(args, func(text []rune, n int) []rune { return text[len(text)-n:] })
}

// cutText takes n characters of a text, or with a negative n all but n.
func cutText(args []sqlite.Value, take func([]rune, int) []rune) (sqlite.Value, error) {
	if args[0].Type() == sqlite.TypeNull || args[1].Type() == sqlite.TypeNull {
		return null, nil
	}
	text, n := []rune(args[0].Text()), args[1].Int64()
	if n < 0 {
		n += int64(len(text))
	}
	return notNullText(string(take(text, int(min(max(n, 0), int64(len(text))))))), nil
}

// greatestOrLeast returns the greatest or the least of the arguments that are not NULL.
func greatestOrLeast(sign int) scalar {
	return func(_ sqlite.Context, args []sqlite.Value) (best sqlite.Value, _ error) {
		for _, a := range args {
			if a.Type() != sqlite.TypeNull && (best.Type() == sqlite.TypeNull || sign*compareValues(a, best) > 0) {
				best = copyValue(a)
			}
		}
		return best, nil
	}
}

func compareValues(a, b sqlite.Value) int {
	if a.Type() == sqlite.TypeText || b.Type() == sqlite.TypeText {
		return strings.Compare(a.Text(), b.Text())
	}
	if a.Type() == sqlite.TypeInteger && b.Type() == sqlite.TypeInteger { // a float would lose what is beyond 53 bits
		return cmp.Compare(a.Int64(), b.Int64())
	}
	switch x, y := a.Float(), b.Float(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// copyValue copies a value so that it remains valid after the call.
func copyValue(v sqlite.Value) sqlite.Value {
	switch v.Type() {
	case sqlite.TypeInteger:
		return integer(v.Int64())
	case sqlite.TypeFloat:
		return sqlite.FloatValue(v.Float())
	case sqlite.TypeText:
		return notNullText(strings.Clone(v.Text()))
	case sqlite.TypeBlob:
		return sqlite.BlobValue(append([]byte{}, v.Blob()...))
	}
	return null
}
