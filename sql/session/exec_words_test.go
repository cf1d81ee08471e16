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
		`echo {a,b} !x`:                   {"echo", "{a,b}", "!x"}, // as sh, which knows neither
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

// TestHintOfExecShowsAFormThatWorks: the statement of the hint is not refused with the same hint.
func TestHintOfExecShowsAFormThatWorks(t *testing.T) {
	_, example, found := strings.Cut(execWordsHint, "AS EXEC '")
	text := strings.ReplaceAll(strings.TrimSuffix(example, "'"), "''", "'")
	if words, err := splitWords(text); !found || err != nil || !slices.Equal(words, []string{"/bin/sh", "-c", "echo $X"}) {
		t.Errorf("%s: %q %v", text, words, err)
	}
}

func TestHintOfOpenQuoteSaysToCloseIt(t *testing.T) {
	for text, want := range map[string]string{"a 'b": `close it, or write \' for`, `a "b`: `close it, or write \" for`, "a $X": "put it in single quotes"} {
		_, err := splitWords(text)
		if got := execHint(err); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
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
