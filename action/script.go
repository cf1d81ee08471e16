package action

import (
	"slices"
	"strings"
)

// piece is one statement of a script.
type piece struct {
	text  string
	start int      // offset in the script, in bytes
	words []string // its first words, in upper case, up to the first other token
}

// wordsMax is how many words of a statement are kept.
const wordsMax = 8

// split divides a script into its statements, at the semicolons outside of quotes,
// comments and the bodies of functions. If it splits wrongly, the server refuses the
// part, because each part is sent as a single statement.
func split(kind dialect, script string) (pieces []piece) {
	s := &scanner{kind: kind, text: script}
	for {
		p, more := s.piece()
		if p.text != "" {
			pieces = append(pieces, p)
		}
		if !more {
			return pieces
		}
	}
}

// piece reads up to the next semicolon that ends a statement.
func (s *scanner) piece() (p piece, more bool) {
	start, end := -1, s.at
	b := body{kind: s.kind}
	onlyWords := true
	for {
		t := s.next()
		if t.kind == tokenEnd {
			break
		}
		if t.kind == tokenSemicolon && !b.open(s.depth) {
			more = true
			break
		}
		if start < 0 {
			start = t.start
		}
		end = s.at
		word := ""
		if t.kind == tokenWord {
			word = strings.ToUpper(s.text[t.start:s.at])
		}
		if onlyWords = onlyWords && word != ""; onlyWords && len(p.words) < wordsMax {
			p.words = append(p.words, word)
		}
		b.add(t.kind, word)
	}
	s.depth = 0
	if start >= 0 {
		p.start, p.text = start, s.text[start:end]
	}
	return p, more
}

// body tracks whether a statement has a body with statements of its own, whose
// semicolons do not end it.
type body struct {
	kind    dialect
	words   []string // its first words, without other tokens
	routine bool     // the statement creates a function, a procedure or a trigger
	blocks  int      // BEGIN and CASE that have no END yet
	begun   bool     // of a trigger: BEGIN was seen
	after   bool     // of a trigger: the last token was a semicolon
	ended   bool     // of a trigger: END followed
}

// open reports whether a semicolon belongs to the body of the statement.
func (b *body) open(depth int) bool {
	switch {
	case b.kind == dialectMaria:
		return b.routine // it must be the only statement, so the rest is its body
	case b.kind == dialectSQLite:
		return b.routine && b.begun && !b.ended
	}
	return depth > 0 || b.blocks > 0
}

func (b *body) add(kind tokenKind, word string) {
	if word != "" && !b.routine && len(b.words) < routineWordsMax[b.kind] {
		b.words = append(b.words, word)
		b.routine = makesRoutine(b.kind, b.words)
	}
	if !b.routine {
		return
	}
	b.ended = b.after && word == "END"
	b.after = kind == tokenSemicolon
	switch word {
	case "BEGIN":
		b.begun = true
		b.blocks++
	case "CASE":
		if b.blocks > 0 {
			b.blocks++
		}
	case "END":
		b.blocks = max(0, b.blocks-1)
	}
}

// routineKinds are the kinds of routines by dialect.
var routineKinds = map[dialect][]string{
	dialectSQLite:   {"TRIGGER"},
	dialectPostgres: {"FUNCTION", "PROCEDURE"},
	dialectMaria:    {"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE"},
}

// routineWordsMax is among how many words of a statement the kind has to be: in MariaDB
// a DEFINER clause may precede it.
var routineWordsMax = map[dialect]int{dialectSQLite: 4, dialectPostgres: 4, dialectMaria: 12}

func makesRoutine(kind dialect, words []string) bool {
	if len(words) > 1 && words[0] == "EXPLAIN" {
		words = words[1:]
	}
	if len(words) < 2 || words[0] != "CREATE" && (words[0] != "ALTER" || kind != dialectMaria) {
		return false
	}
	for _, word := range words[1:] {
		switch {
		case slices.Contains(routineKinds[kind], word):
			return true
		case slices.Contains(kindsWithoutBody, word):
			return false
		}
	}
	return false
}

// kindsWithoutBody are the kinds of objects without a body.
var kindsWithoutBody = []string{"TABLE", "INDEX", "VIEW", "UNIQUE", "SCHEMA", "DATABASE", "SEQUENCE", "USER", "ROLE"}
