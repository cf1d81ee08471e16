package ddl

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzParse checks that an error has a printable message and a position in the text, that a parsed statement survives
// printing and parsing, and that the parser never reads a text more than a few times.
func FuzzParse(f *testing.F) {
	for _, row := range validStatements {
		f.Add(row.text)
		f.Add(row.want)
	}
	for _, row := range invalidStatements {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if steps := stepsOf(text); steps > stepsMax(text) {
			t.Errorf("%d steps for %d bytes", steps, len(text))
		}
		if err != nil {
			checkError(t, text, err)
			return
		}
		printed := Print(s)
		again, err := Parse(printed)
		if len(printed) > TextMax {
			return // quotes that were doubled made it too long
		}
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, printed, err)
		}
		if !hasSecret(s) && !reflect.DeepEqual(again, s) {
			t.Errorf("%q is printed as %q: got %+v, want %+v", text, printed, again, s)
		}
		if Print(again) != printed {
			t.Errorf("%q is printed as %q and then %q", text, printed, Print(again))
		}
	})
}

// FuzzSplit checks the promises of Split on any text.
func FuzzSplit(f *testing.F) {
	for _, row := range splits {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sources, err := Split(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		last, joined := 0, ""
		for _, s := range sources {
			if s.Text == "" || s.Offset < last || text[s.Offset:s.Offset+len(s.Text)] != s.Text {
				t.Fatalf("%q: %+v", text, sources)
			}
			last = s.Offset + len(s.Text)
			joined += s.Text + "\n;"
		}
		again, err := Split(joined)
		if err != nil || len(again) != len(sources) {
			t.Fatalf("%q: %d statements, joined %d, %v", text, len(sources), len(again), err)
		}
		for i, s := range again[:max(0, len(again)-1)] { // the last may have an open parenthesis, and take the semicolon
			if s.Text != sources[i].Text {
				t.Errorf("%q: %q became %q", text, sources[i].Text, s.Text)
			}
		}
	})
}

// hasSecret reports whether Print masks a part of the statement.
func hasSecret(s Statement) bool {
	switch s := s.(type) {
	case *Security:
		return s.Password != nil && *s.Password != ""
	case *AlterJob:
		return len(s.Secrets) > 0
	}
	return false
}

func checkError(t *testing.T, text string, err error) {
	t.Helper()
	var parseErr *Error
	if !errors.As(err, &parseErr) {
		t.Fatalf("%q: %T", text, err)
	}
	if parseErr.Text != text || parseErr.Offset < 0 || parseErr.Offset > len(text) || parseErr.Line < 1 || parseErr.Column < 1 || len(parseErr.State) != 5 {
		t.Errorf("%q: %+v", text, parseErr)
	}
	message := err.Error()
	if !utf8.ValidString(message) || len(message) > 1000 || strings.ContainsFunc(message, unicode.IsControl) {
		t.Errorf("%q: %q", text, message)
	}
}
