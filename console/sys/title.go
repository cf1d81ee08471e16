package sys

import (
	"regexp"
	"strings"

	"zombiezen.com/go/sqlite"
)

// titles are the names of the columns of an answer. One without a name is called
// what stands there, as it was written: of a call the function, of a cast what is
// cast.
func (d *desk) titles(s *statement, stmt *sqlite.Stmt, tokens []token, written string) []Column {
	columns := make([]Column, stmt.ColumnCount())
	named, known := aliases(tokens), truths(tokens)
	for i, name := range d.names(s, stmt) {
		columns[i].Name = title(s.original(name, written))
		if i < len(known) && known[i] {
			columns[i].Kind = Boolean
			continue
		}
		if !named[strings.ToLower(columns[i].Name)] {
			columns[i].Kind = kinds[columns[i].Name]
		}
	}
	return columns
}

// names are those that SQLite gives. The package that we reach it by forgets the first
// of two that are the same; as the columns of a query within another they are told apart.
func (d *desk) names(s *statement, stmt *sqlite.Stmt) []string {
	names, known := make([]string, stmt.ColumnCount()), true
	for i := range names {
		names[i] = stmt.ColumnName(i)
		known = known && names[i] != ""
	}
	if known {
		return names
	}
	outer, _, err := d.conn.PrepareTransient("SELECT * FROM (" + strings.TrimRight(s.text, "; \t\r\n") + ")")
	if err != nil {
		return names
	}
	defer outer.Finalize()
	for i := range min(len(names), outer.ColumnCount()) {
		if names[i] == "" {
			names[i] = numbered.ReplaceAllString(outer.ColumnName(i), "")
		}
	}
	return names
}

var numbered = regexp.MustCompile(`:\d+$`)

// aliases are the names that a statement gives itself.
func aliases(tokens []token) map[string]bool {
	names := map[string]bool{}
	for i := 1; i < len(tokens); i++ {
		if tokens[i-1].is("as") {
			names[strings.ToLower(strings.Trim(tokens[i].text, "\"`[]"))] = true
		}
	}
	return names
}

// kinds are what columns hold that are called the same in every table they stand
// in. SQLite knows it as well, but has nobody here to tell.
var kinds = func() map[string]Kind {
	all := map[string]Kind{"key": "", "value": "", "type": ""} // of json_each, too
	for _, t := range tables {
		for _, c := range t.titles() {
			if known, twice := all[c.Name]; twice && known != c.Kind {
				all[c.Name] = ""
				continue
			}
			all[c.Name] = c.Kind
		}
	}
	return all
}()

// original is an expression as it was written, given it as SQLite was told it.
func (s *statement) original(name, written string) string {
	if !strings.ContainsAny(name, "( ?") { // nothing that translation makes
		return name
	}
	at := strings.Index(s.text, name)
	if at < 0 {
		return name
	}
	from, to := s.origin(at), s.origin(at+len(name))
	if from >= to {
		return name
	}
	return strings.TrimSpace(written[from:to])
}

var (
	aCall = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)\s*\(`)
	aCast = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*\.)*([A-Za-z_][A-Za-z0-9_]*)\s*::`)
)

func title(expression string) string {
	if m := aCast.FindStringSubmatch(expression); m != nil {
		return m[1]
	}
	if m := aCall.FindStringSubmatch(expression); m != nil && closes(expression[len(m[0])-1:]) {
		return strings.ToLower(m[1])
	}
	return expression
}

// closes says whether the parenthesis that a text begins with is closed by its last
// letter.
func closes(text string) bool {
	tokens, err := scan(text)
	if err != nil {
		return false
	}
	depth := 0
	for i, t := range tokens {
		if depth += t.depth(); depth == 0 {
			return i == len(tokens)-1
		}
	}
	return false
}
