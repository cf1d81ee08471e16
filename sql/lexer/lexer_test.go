package lexer

import (
	"slices"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, row := range []struct {
		text string
		want []Token
	}{
		{" /* a /* b */ */ -- c\n", []Token{{End, "", 22, 22}}},
		{`SELECT "a""b"`, []Token{{Word, "SELECT", 0, 6}, {Name, `a"b`, 7, 13}, {End, "", 13, 13}}},
		{`'it''s' E'it\'s' e''`, []Token{{String, "it's", 0, 7}, {EscapeString, `it\'s`, 8, 16}, {EscapeString, "", 17, 20}, {End, "", 20, 20}}},
		{"$$a$$ $b1$$$$b1$ c$$", []Token{{String, "a", 0, 5}, {String, "$$", 6, 16}, {Word, "c$$", 17, 20}, {End, "", 20, 20}}},
		{"$1", []Token{{Symbol, "$", 0, 1}, {Number, "1", 1, 2}, {End, "", 2, 2}}},
		{"1.5e-3 2e 3.x", []Token{{Number, "1.5e-3", 0, 6}, {WordAfterNumber, "2", 7, 9}, {Number, "3", 10, 11}, {Symbol, ".", 11, 12}, {Word, "x", 12, 13}, {End, "", 13, 13}}},
		{"é<=", []Token{{Word, "é", 0, 2}, {Symbol, "<", 2, 3}, {Symbol, "=", 3, 4}, {End, "", 4, 4}}},
		{"a 'b''", []Token{{Word, "a", 0, 1}, {UnclosedString, "", 2, 6}, {End, "", 6, 6}}},
		{`E'\'`, []Token{{UnclosedString, "", 1, 4}, {End, "", 4, 4}}},
		{`"b`, []Token{{UnclosedName, "", 0, 2}, {End, "", 2, 2}}},
		{"$x$b$X$", []Token{{UnclosedDollars, "$x$", 0, 7}, {End, "", 7, 7}}},
		{" /* /* */", []Token{{UnclosedComment, "", 1, 9}, {End, "", 9, 9}}},
	} {
		if got := tokens(Scanner{Text: row.text}); !slices.Equal(got, row.want) {
			t.Errorf("%s\ngot  %v\nwant %v", row.text, got, row.want)
		}
	}
}

func TestBarePoint(t *testing.T) {
	want := []Token{{Number, ".5", 0, 2}, {Number, "5.", 3, 5}, {Number, "5.e1", 6, 10}, {Symbol, ".", 11, 12}, {End, "", 12, 12}}
	if got := tokens(Scanner{Text: ".5 5. 5.e1 .", BarePoint: true}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBadCharacter(t *testing.T) {
	for text, want := range map[string]int{"": -1, "a\uFFFD": -1, "é\x00": 2, "é\xff\x00": 2, "a\x00\xff": 1} {
		if got := BadCharacter(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func tokens(s Scanner) (all []Token) {
	for {
		t := s.Next()
		all = append(all, t)
		if t.Kind == End {
			return all
		}
	}
}
