package query

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the results into testdata; review the diff")

// textCase is a case of a test file: a text, a line of four dashes and the result. An empty line separates cases.
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

func TestParseValidQueriesReturnTrees(t *testing.T) {
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

func TestParseInvalidQueriesReportOffsetAndReason(t *testing.T) {
	runCases(t, "testdata/wrong.txt", func(text string) string {
		q, err := Parse(text)
		if err == nil {
			t.Errorf("%s was read: %s", text, show(q))
			return ""
		}
		return describe(err)
	})
}

// describe returns an error as text: its state, offset, message and hint.
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
