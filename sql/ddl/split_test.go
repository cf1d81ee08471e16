package ddl

import (
	"errors"
	"reflect"
	"testing"
)

// splits are texts and the statements in them.
var splits = []struct {
	text string
	want []Source
}{
	{"", nil},
	{" ; ;\n; ", nil},
	{"-- nothing\n/* at all */;", nil},
	{"a", []Source{{"a", 0, false}}},
	{"a;", []Source{{"a", 0, true}}},
	{`SELECT E'\';' || e'\\'; b`, []Source{{`SELECT E'\';' || e'\\'`, 0, true}, {"b", 24, false}}},
	{`SELECT name'\'; b`, []Source{{`SELECT name'\'`, 0, true}, {"b", 16, false}}},
	{" a ; b ", []Source{{"a", 1, true}, {"b", 5, false}}},
	{"\uFEFFa;b", []Source{{"a", 3, true}, {"b", 5, false}}},
	{"\uFEFFa;\n\uFEFFb; \uFEFF", []Source{{"a", 3, true}, {"b", 9, true}}},
	{"a /* ; */ b -- ;\n; c", []Source{{"a /* ; */ b", 0, true}, {"c", 19, false}}},
	{"/* x; /* y; */ z; */ a;", []Source{{"a", 21, true}}},
	{"'a;''b;' ; \"c;\"\"d;\"", []Source{{"'a;''b;'", 0, true}, {`"c;""d;"`, 11, false}}},
	{"$$a;b$$;$q$c;$$;d$q$", []Source{{"$$a;b$$", 0, true}, {"$q$c;$$;d$q$", 8, false}}},
	{"a$$;b$$", []Source{{"a$$", 0, true}, {"b$$", 4, false}}}, // a $ in a word begins nothing
	{"a = $1; b = $2", []Source{{"a = $1", 0, true}, {"b = $2", 8, false}}},
	{"f(a; (b;) c;); d", []Source{{"f(a; (b;) c;)", 0, true}, {"d", 15, false}}},
	{"a); b", []Source{{"a)", 0, true}, {"b", 4, false}}},
	{"(a; b", []Source{{"(a; b", 0, false}}},
	{"größe;ü", []Source{{"größe", 0, true}, {"ü", 8, false}}},
}

func TestSplit(t *testing.T) {
	for _, row := range splits {
		got, err := Split(row.text)
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%q: got %+v, %v; want %+v", row.text, got, err, row.want)
		}
	}
}

func TestSplitUnclosedQuotesIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"a;\nb 'c;":   "line 2, column 3: the string that begins here is not closed; end it with '; write '' for a quote inside",
		"a; \"b":      `line 1, column 4: the name that begins here is not closed; end it with "; write "" for a quote inside`,
		"a; /* b":     "line 1, column 4: the comment that begins here is not closed; end it with */; each nested comment needs its own */",
		"a; $x$ b $$": "line 1, column 4: the string that begins here is not closed; end it with $x$",
		"a; \x00":     "line 1, column 4: the text has a NUL character here; remove it",
	} {
		_, err := Split(text)
		var parseErr *Error
		if !errors.As(err, &parseErr) || parseErr.Error() != want || parseErr.Text != text {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
