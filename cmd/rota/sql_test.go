package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// TestSplitFile: each statement is a request, and so is each transaction.
func TestSplitFile(t *testing.T) {
	for text, want := range map[string][]sqlRequest{
		"":                               nil,
		"-- nothing\n;;":                 nil,
		"SELECT 1;\n\nSELECT ';';":       {{text: "SELECT 1", lines: 0}, {text: "SELECT ';'", lines: 2}},
		"x;\nBEGIN;\na; b;\nCOMMIT;\ny":  {{text: "x"}, {text: "BEGIN;\na; b;\nCOMMIT", lines: 1}, {text: "y", lines: 4}},
		"BEGIN; a; ROLLBACK; BEGIN; END": {{text: "BEGIN; a; ROLLBACK"}, {text: "BEGIN; END"}},
		"BEGIN; a; b":                    {{text: "BEGIN; a; b"}},
		"COMMIT; a":                      {{text: "COMMIT"}, {text: "a"}},
	} {
		got, err := splitFile("", text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q becomes %+v, want %+v: %v", text, got, want, err)
		}
	}
	_, err := splitFile("a.sql", "SELECT 1;\n  'x")
	var refusal *statementError
	if !errors.As(err, &refusal) || refusal.Line != 2 || refusal.Column != 3 || exitCode(err) != exitFailed {
		t.Errorf("%+v", err)
	}
}

func TestSplitTyped(t *testing.T) {
	for text, want := range map[string]struct {
		whole []string
		rest  string
	}{
		"SELECT 1\n":                   {nil, "SELECT 1\n"},
		"SELECT 1;\n":                  {[]string{"SELECT 1"}, ""},
		"SELECT 1; SELECT\n":           {[]string{"SELECT 1"}, "SELECT\n"},
		"a; b;\n":                      {[]string{"a", "b"}, ""},
		"SELECT ';\n":                  {nil, "SELECT ';\n"},
		"SELECT 1 -- ;\n":              {nil, "SELECT 1 -- ;\n"},
		"SELECT 1; -- done\n":          {[]string{"SELECT 1"}, ""},
		"SELECT $$;\n":                 {nil, "SELECT $$;\n"},
		"SELECT (1;\n":                 {nil, "SELECT (1;\n"},
		"/* ; */ SELECT\n":             {nil, "SELECT\n"},
		"-- a remark\n":                {nil, ""},
		"CREATE JOB \"a;b\" AS 'x';\n": {[]string{"CREATE JOB \"a;b\" AS 'x'"}, ""},
	} {
		sources, rest, err := splitTyped(text)
		var whole []string
		for _, s := range sources {
			whole = append(whole, s.Text)
		}
		if err != nil || !slices.Equal(whole, want.whole) || rest != want.rest {
			t.Errorf("%q: %q and %q, %v", text, whole, rest, err)
		}
	}
	if _, _, err := splitTyped("SELECT \x00;\n"); err == nil {
		t.Error("invalid text is treated as incomplete")
	}
}

// TestSQLFileStopsAtFirstError: the error names the file and line; --keep-going runs all statements.
func TestSQLFileStopsAtFirstError(t *testing.T) {
	s := startServer(t)
	file := filepath.Join(t.TempDir(), "jobs.sql")
	text := "\ufeffCREATE JOB a SCHEDULE EVERY 1 HOUR AS CALL noop();\n\nBEGIN;\n  CREATE JOB b SCHEDULE EVERY 1 HOUR AS CALL noop();\n  DROP JOB missing;\nCOMMIT;\n" +
		"EXECUTE JOB a\n  NOW;\nCREATE JOB c SCHEDULE EVERY 1 HOUR AS CALL noop();\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, code := s.run("sql -f " + file)
	if code != exitFailed || !strings.HasPrefix(errs, file+":5: ERROR:  42704: there is no job missing\n") {
		t.Errorf("exit %d: %s", code, errs)
	}
	names := func() string { return s.must("sql 'SELECT string_agg(job_name, chr(44)) AS n FROM sys.jobs'") }
	if got := names(); !strings.Contains(got, "\n a\n") {
		t.Errorf("want only job a: %s", got)
	}
	out, errs, code := s.runWith("sql --keep-going", terminal{}, map[string]string{"STDIN": strings.Replace(text, "JOB a S", "JOB IF NOT EXISTS a S", 1)})
	if code != exitFailed || out != "CREATE JOB\nCREATE JOB\n" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	for _, want := range []string{
		"NOTICE:  job a already exists, skipping\n", "standard input:5: ERROR:  42704: there is no job missing\n",
		"standard input:8: ERROR:  42601: ", "LINE 8:   NOW\n          ^\n", "rota: 2 of 4 requests failed\n",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in\n%s", want, errs)
		}
	}
	if got := names(); !strings.Contains(got, "\n a,c\n") {
		t.Errorf("want jobs a and c: %s", got)
	}
	if out, _, code := s.runWith("sql -f - -o json", terminal{}, map[string]string{"STDIN": "SELECT 1 AS x; SELECT 2 AS x"}); code != exitDone || strings.Count(out, `"columns"`) != 2 {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestSQLExitCodes(t *testing.T) {
	for state, want := range map[string]int{"42601": exitFailed, "22023": exitUsage, "42704": exitNotFound, "42501": exitDenied, "57P03": exitUnavailable, "40001": exitFailed} {
		err := sqlRequest{}.asStatementError(&exitError{code: exitUsage, err: errors.New("no"), statement: &api.Problem{SQLState: state}})
		if got := exitCode(err); got != want {
			t.Errorf("%s exits with %d, not %d", state, got, want)
		}
	}
}

// TestErrorExcerptOfLongLine: the caret is under the error.
func TestErrorExcerptOfLongLine(t *testing.T) {
	text := "SELECT\n" + strings.Repeat("x, ", 50) + "WRONG" + strings.Repeat(", y", 50)
	var b strings.Builder
	(&statementError{sqlRequest: sqlRequest{text: text}, Problem: api.Problem{SQLState: "42703", Detail: "no\x1b such column", Line: 2, Column: 151}}).write(&b)
	lines := strings.Split(b.String(), "\n")
	if lines[0] != "ERROR:  42703: no? such column" || len(lines[1]) > 150 || !strings.HasPrefix(lines[1], "LINE 2: ...") || !strings.HasSuffix(lines[1], "...") {
		t.Errorf("%q", lines)
	}
	if at := strings.Index(lines[2], "^"); at < 0 || !strings.HasPrefix(lines[1][at:], "WRONG") {
		t.Errorf("the caret is not under the error:\n%s", b.String())
	}
}

func TestSQLRowsExpandWhenTooWide(t *testing.T) {
	s := startServer(t)
	const wide = "SELECT 1 AS one, 'a long story of some length' AS story"
	for _, row := range []struct {
		flags    string
		screen   terminal
		expanded bool
	}{
		{"", terminal{}, false},
		{"", terminal{out: true, width: 80}, false},
		{"", terminal{out: true, width: 20}, true},
		{" -x", terminal{out: true, width: 80}, true},
	} {
		out, errs, code := s.runWith("sql -f -"+row.flags, row.screen, map[string]string{"STDIN": wide})
		if code != exitDone || strings.Contains(out, "-[ RECORD 1 ]") != row.expanded || !strings.HasSuffix(out, "(1 row)\n") {
			t.Errorf("%+v: exit %d: %s%s", row, code, out, errs)
		}
	}
	const states = "SELECT 'ENABLED' AS state"
	if out, _, _ := s.runWith("sql -f -", terminal{out: true, width: 80}, map[string]string{"STDIN": states}); !strings.Contains(out, colourGood+"ENABLED"+colourOff) {
		t.Errorf("a state has no colour: %q", out)
	}
	if out, _, _ := s.runWith("sql -f -", terminal{out: true, width: 80}, map[string]string{"STDIN": states, "NO_COLOR": "1"}); strings.Contains(out, "\x1b") {
		t.Errorf("NO_COLOR is not honoured: %q", out)
	}
	lines, _, _ := s.runWith("sql", terminal{}, map[string]string{"STDIN": "SELECT 'a\x1bbb' AS t UNION ALL SELECT 'c\nd'"})
	if strings.Contains(lines, "\x1b") || !strings.Contains(lines, " a?bb\n c   +\n d\n(2 rows)\n") {
		t.Errorf("%q", lines)
	}
}
