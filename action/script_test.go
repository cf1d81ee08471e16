package action

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestSplitFindsStatements(t *testing.T) {
	for _, row := range []struct {
		kind dialect
		text string
		want []string
	}{
		{dialectPostgres, "", nil},
		{dialectPostgres, " ;; -- x\n", nil},
		{dialectPostgres, "a; b ;c", []string{"a", "b", "c"}},
		{dialectPostgres, "a ';' \";\" /* ; /* ; */ ; */ -- ;\n b; c", []string{"a ';' \";\" /* ; /* ; */ ; */ -- ;\n b", "c"}},
		{dialectPostgres, `a 'it''s;'; E'\';' ; b '\'; c`, []string{`a 'it''s;'`, `E'\';'`, `b '\'`, "c"}},
		{dialectPostgres, "a $$;$$; b $x$ $$ ; $y$ $x$; c$x$;$1;d", []string{"a $$;$$", "b $x$ $$ ; $y$ $x$", "c$x$", "$1", "d"}},
		{dialectPostgres, "CREATE RULE r AS ON INSERT TO a DO (x; y); z", []string{"CREATE RULE r AS ON INSERT TO a DO (x; y)", "z"}},
		{dialectPostgres, "CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE 1 WHEN 2 THEN 3 END; y; END; z", []string{"CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE 1 WHEN 2 THEN 3 END; y; END", "z"}},
		{dialectPostgres, "SELECT 1)); b", []string{"SELECT 1))", "b"}},
		{dialectPostgres, "a 'open; b", []string{"a 'open; b"}},
		{dialectSQLite, "a [;] `;` ';'; /* /* ; */ b", []string{"a [;] `;` ';'", "b"}},
		{
			dialectSQLite, "CREATE TEMP TRIGGER t BEGIN x; CASE y END; END; COMMIT",
			[]string{"CREATE TEMP TRIGGER t BEGIN x; CASE y END; END", "COMMIT"},
		},
		{dialectMaria, `a "\";" '\';' ` + "`;`" + ` # ;` + "\n b; c--;\n; -- ;\nd", []string{`a "\";" '\';' ` + "`;`" + ` # ;` + "\n b", "c--", "d"}},
		{dialectMaria, "CREATE DEFINER=x PROCEDURE p() BEGIN a; b; END", []string{"CREATE DEFINER=x PROCEDURE p() BEGIN a; b; END"}},
		{dialectMaria, "/*!50000 COMMIT */; b", []string{"COMMIT", "b"}},
	} {
		var got []string
		for _, p := range split(row.kind, row.text) {
			got = append(got, p.text)
			if row.text[p.start:p.start+len(p.text)] != p.text {
				t.Errorf("%s: %q is not at offset %d", row.text, p.text, p.start)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", row.kind, row.text, got, row.want)
		}
	}
}

// FuzzSplit checks that split ends, and that statements are parts of the script in
// order.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"a; b", "$$;$$", "E'\\", "/* /* */", "/*!1 x */;", "CREATE TRIGGER x BEGIN a; END;", "'", "\xff;\x00", "CREATE FUNCTION f BEGIN CASE"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []dialect{dialectSQLite, dialectPostgres, dialectMaria} {
			end := 0
			for _, p := range split(kind, text) {
				if p.text == "" || p.start < end || text[p.start:p.start+len(p.text)] != p.text {
					t.Fatalf("%s: %q: %+v after %d", kind, text, p, end)
				}
				end = p.start + len(p.text)
			}
			_ = refuse(kind, text, split(kind, text))
		}
	})
}

func TestLineAndColumn(t *testing.T) {
	text := "é\nab\nc"
	for offset, want := range map[int][2]int{0: {1, 1}, 2: {1, 2}, 3: {2, 1}, 5: {2, 3}, 6: {3, 1}, 99: {3, 2}} {
		if line, column := lineAndColumn(text, offset); line != want[0] || column != want[1] {
			t.Errorf("%d: line %d, column %d, want %v", offset, line, column, want)
		}
	}
	if at := byteOffset("éa", 2); at != 2 {
		t.Errorf("the second character is at offset %d", at)
	}
}

func TestFormattedTargetHasNoPassword(t *testing.T) {
	target := Target{URL: "postgres://u:geheim@h/d", Roles: map[string]string{"x": "postgres://x:geheim@h/d"}}
	for _, text := range formats(target) {
		if strings.Contains(text, "geheim") || !strings.Contains(text, "postgres") {
			t.Errorf("a formatted target is %s", text)
		}
	}
}

// formats returns a target as the usual ways to print a value format it.
func formats(target Target) []string {
	text, err := json.Marshal(map[string]Target{"a": target})
	if err != nil {
		panic(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "target", target)
	return []string{fmt.Sprint(target), fmt.Sprintf("%+v", target), fmt.Sprintf("%#v", target), fmt.Sprintf("%+v", []any{&target}), string(text), log.String()}
}
