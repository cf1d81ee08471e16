package sys

import (
	"fmt"
	"sort"
	"strings"
)

// statement is a query as SQLite is given it, and where its pieces came from.
type statement struct {
	text   string
	pieces []piece
}

type piece struct{ here, there, length int }

// origin is where in the query that was written something stands.
func (s *statement) origin(at int) int {
	i := sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].here > at }) - 1
	if i < 0 {
		return 0
	}
	p := s.pieces[i]
	return p.there + min(at-p.here, p.length)
}

// edit is what is put before a token, instead of it and behind it.
type edit struct {
	before, after string
	instead       *string
}

func instead(text string) *string { return &text }

// translate turns what people who know PostgreSQL write into what SQLite reads. It
// gives two statements: the first leaves the order as it is written, the second
// says where NULLs go, which keeps SQLite from handing the order down.
func translate(tokens []token, text string) (plain, sorted *statement, err error) {
	edits := make([]edit, len(tokens))
	words(tokens, edits)
	from, err := casts(tokens, edits)
	if err != nil {
		return nil, nil, err
	}
	if err := intervals(tokens, edits, from); err != nil {
		return nil, nil, err
	}
	plain = render(text, tokens, edits)
	if err := nulls(tokens, edits); err != nil {
		return nil, nil, err
	}
	return plain, render(text, tokens, edits), nil
}

// words replaces what has another name here.
func words(tokens []token, edits []edit) {
	for i, t := range tokens {
		switch {
		case t.is("ilike"):
			edits[i].instead = instead("REGEXP")
		case t.is("current_timestamp", "localtimestamp") && !(i+1 < len(tokens) && tokens[i+1].sign("(")):
			edits[i].instead = instead("now()")
		case t.kind == aParam && len(t.text) > 1 && t.text[0] == '$':
			edits[i].instead = instead("?" + t.text[1:])
		case t.kind == aString && t.text[0] == '$':
			edits[i].instead = instead(t.literal())
		case t.is("table") && i == 0:
			edits[i].instead = instead("SELECT * FROM")
		}
	}
}

// nulls says of every order that NULLs come last where it ascends and first where
// it descends, unless that is said already.
func nulls(tokens []token, edits []edit) error {
	orders := 0
	for i := 0; i+1 < len(tokens); i++ {
		if !tokens[i].is("order") || !tokens[i+1].is("by") {
			continue
		}
		if orders++; orders > ordersMost {
			return tooLong(tokens[i], "orders", ordersMost)
		}
		nullsOf(tokens, edits, i+2)
	}
	return nil
}

// What a statement may have of what takes time to translate.
const (
	ordersMost = 100
	castsMost  = 1000
	namedMost  = 200
	tokensMost = 100_000
)

func tooLong(at token, what string, most int) error {
	return &Error{State: StateTooMuch, Offset: at.at, Message: fmt.Sprintf("the statement has more than %d %s", most, what), Hint: "ask for less at once"}
}

// frame says whether a window's frame begins here, and not a name of that word.
func frame(tokens []token, i int) bool {
	if !tokens[i].is("rows", "range", "groups") || i+1 == len(tokens) {
		return false
	}
	return tokens[i+1].is("between", "unbounded", "current") || tokens[i+1].kind == aNumber
}

// nullsOf goes through the terms of one order.
func nullsOf(tokens []token, edits []edit, from int) {
	depth, last, said, desc := 0, -1, false, false
	end := func() {
		if last >= 0 && !said {
			edits[last].after += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[desc]
		}
		last, said, desc = -1, false, false
	}
	for i := from; i < len(tokens); i++ {
		t := tokens[i]
		if depth += t.depth(); depth < 0 {
			break
		}
		switch {
		case depth > 0:
		case t.sign(","):
			end()
			continue
		case t.sign(";") || t.is("limit", "offset", "fetch") || frame(tokens, i):
			end()
			return
		case t.is("nulls"):
			said = true
		case t.is("desc"):
			desc = true
		}
		last = i
	}
	end()
}

// commonTables are the names that a statement gives to queries: those before AS and a
// parenthesis.
func commonTables(tokens []token) map[string]bool {
	names := map[string]bool{}
	for i, t := range tokens {
		if !t.is("as") || i == 0 {
			continue
		}
		next := i + 1
		for next < len(tokens) && tokens[next].is("not", "materialized") {
			next++
		}
		if next == len(tokens) || !tokens[next].sign("(") || len(names) == namedMost {
			continue
		}
		if k := operand(tokens, i-1); tokens[k].kind == aWord || tokens[k].kind == aName {
			names[strings.ToLower(strings.Trim(tokens[k].text, "\"`[]"))] = true
		}
	}
	return names
}

// render writes the tokens with their edits. Of what stands between them the
// comments are left out, since those of SQLite end elsewhere.
func render(text string, tokens []token, edits []edit) *statement {
	s, b, done := &statement{}, &strings.Builder{}, 0
	put := func(what string, there, length int) {
		s.pieces = append(s.pieces, piece{b.Len(), there, length})
		b.WriteString(what)
	}
	for i, t := range tokens {
		put(gap(text[done:t.at]), done, t.at-done)
		e := edits[i]
		put(e.before, t.at, 0)
		if e.instead != nil {
			put(*e.instead, t.at, 0)
		} else {
			put(t.text, t.at, len(t.text))
		}
		done = t.at + len(t.text)
		put(e.after, done, 0)
	}
	s.text = b.String()
	return s
}

func gap(text string) string {
	if strings.Trim(text, " \t\r\n\f\v") == "" {
		return text
	}
	return " "
}
