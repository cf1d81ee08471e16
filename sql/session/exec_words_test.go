package session

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"/usr/local/bin/backup --all":     {"/usr/local/bin/backup", "--all"},
		"  a\t'b  c' \"d e\"\nf ":         {"a", "b  c", "d e", "f"},
		`a 'it'\''s' "x\"y" x\ y ''`:      {"a", "it's", `x"y`, "x y", ""},
		`/bin/sh -c 'cat a | wc -l > $X'`: {"/bin/sh", "-c", "cat a | wc -l > $X"},
		`"a b"/c --x=1 a#b a~b {} 100%`:   {"a b/c", "--x=1", "a#b", "a~b", "{}", "100%"},
		`a '\n' "\n" \n`:                  {"a", `\n`, `\n`, "n"},
	} {
		if got, err := splitWords(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"a | b": "|", "a > b": ">", "a; b": ";", "a && b": "&", "a $X": "$", "a \"$X\"": "$", "a `b`": "`", "a *.log": "*", "a ~/b": "~", "a # b": "#",
		"X=1 a": "assignment", "a 'b": "not closed", `a "b`: "not closed", `a \`: "backslash", "": "no program", "''": "no program", "(a)": "(",
	} {
		if got, err := splitWords(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
}

func TestJoinedWordsSplitIntoTheSame(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune(`ab=/$"'\ *~#é;`+"\n")), 0, 6, -1), 1, 4).Draw(r, "words")
		if words[0] == "" {
			return
		}
		if got, err := splitWords(joinWords(words)); err != nil || !slices.Equal(got, words) {
			r.Fatalf("%q: %s: %q %v", words, joinWords(words), got, err)
		}
	})
}
