package yamlfile

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

func TestErrorsNameFileAndLine(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"a: 1\nb: 2\n", ""},
		{"# only a comment\n", ""},
		{"a: 1\nb: [1\n", "f:2: not valid YAML: "},
		{"a:\n\tb: 1\n", "f:2: not valid YAML: there is a tab; indent with spaces"},
		{"a: 1\n---\nb: 2\n", "f:3: a second document begins here"},
		{"a: 1\nb: 2\na: 3\n", `f:3: "a" is given twice; remove one of them`},
		{"a: {b: 1}\na: {c: 1}\n", `f:2: "a" is given twice; merge them into one`},
		{"? a\n: 1\n", "f:1: this is not the name of a value"},
		{"a: 1\nb: " + strings.Repeat("[", DepthMax+1), "f:2: nested more than 510 levels deep"},
	} {
		err := Read("f", []byte(row.text), func(f *File) error {
			_, err := f.Entries(f.Body)
			return err
		})
		switch {
		case row.want == "" && err != nil, row.want != "" && (err == nil || !strings.HasPrefix(err.Error(), row.want)):
			t.Errorf("%q: %v, want %q", row.text, err, row.want)
		case err != nil && rota.CodeOf(err) != rota.Invalid:
			t.Errorf("%q: the code is %s", row.text, rota.CodeOf(err))
		}
	}
}

func TestEntriesKeepNamesAsWritten(t *testing.T) {
	err := Read("f", []byte("7: a\ntrue: b\n\"x y\": c\n"), func(f *File) error {
		entries, err := f.Entries(f.Body)
		var names []string
		for i, e := range entries {
			names = append(names, e.Name)
			if e.Line() != i+1 {
				t.Errorf("%s is in line %d", e.Name, e.Line())
			}
		}
		if got := strings.Join(names, ","); got != "7,true,x y" {
			t.Errorf("the names are %s", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPanicIsErrorOfFile(t *testing.T) {
	err := Read("f", []byte("a: 1"), func(*File) error { panic("broken") })
	if rota.CodeOf(err) != rota.Invalid || !strings.HasPrefix(err.Error(), "f: not valid YAML: broken") {
		t.Errorf("the error is %v", err)
	}
}
