package query

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is read now into testdata, to be looked through")

// A file of cases has a text, a line of four dashes, and what comes of it. An empty
// line stands between two.
type textCase struct{ text, want string }

func readCases(t testing.TB, file string) (cases []textCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		text, want, _ := strings.Cut(block, "\n----\n")
		cases = append(cases, textCase{strings.TrimSuffix(text, "\n----"), strings.TrimSpace(want)})
	}
	return cases
}

func runCases(t *testing.T, file string, outcome func(text string) string) {
	cases := readCases(t, file)
	var all []string
	for _, c := range cases {
		got := outcome(c.text)
		all = append(all, c.text+"\n----\n"+got)
		if got != c.want && !*update {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(all, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoodTextsAreReadIntoTrees(t *testing.T) {
	for _, file := range []string{"testdata/queries.txt", "testdata/values.txt", "testdata/clients.txt"} {
		runCases(t, file, func(text string) string {
			q, err := Parse(text)
			if err != nil {
				t.Errorf("%s: %s", text, describe(err))
				return ""
			}
			return show(q)
		})
	}
}

func TestWrongTextsAreToldWhereAndWhy(t *testing.T) {
	runCases(t, "testdata/wrong.txt", func(text string) string {
		q, err := Parse(text)
		if err == nil {
			t.Errorf("%s was read: %s", text, show(q))
			return ""
		}
		return describe(err)
	})
}

// describe is an error in one line, with the text from where it is on.
func describe(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	s := fmt.Sprintf("%s at %d: %s", e.State, e.Offset, e.Message)
	if e.Hint != "" {
		s += "\nhint: " + e.Hint
	}
	return s
}
