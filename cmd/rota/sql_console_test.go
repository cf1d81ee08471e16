package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// typeKeys runs the console with keys as input and returns standard output and error without escape sequences.
func (s *testServer) typeKeys(keys string, env map[string]string) (shown string) {
	s.t.Helper()
	all := map[string]string{"STDIN": keys, "NO_COLOR": "1"}
	for name, value := range env {
		all[name] = value
	}
	out, errs, code := s.runWith("sql", terminal{in: true, out: true, err: true, width: 100}, all)
	if code != exitDone {
		s.t.Errorf("the console exits with %d: %s", code, errs)
	}
	return strings.ReplaceAll(escapes.ReplaceAllString(out, ""), "\r\n", "\n") + errs
}

// containsInOrder fails the test if shown does not contain the texts in this order.
func containsInOrder(t *testing.T, shown string, want ...string) {
	t.Helper()
	rest := shown
	for _, text := range want {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("%q is missing or out of order in\n%s", text, shown)
			return
		}
		rest = after
	}
}

func TestConsoleRunsStatements(t *testing.T) {
	s := startServer(t)
	shown := s.typeKeys("SELECT 1 AS one,\r  2 AS two; SELECT\r'a;\rb' AS three;\rexit\rSELECT 4;\r", nil)
	containsInOrder(t, shown, "Rota", promptReady+"SELECT 1", promptMore+"  2 AS", " one | two\n-----+-----\n   1 |   2\n(1 row)\n\n", promptMore+"b' AS three;", " three\n", " a;\n b\n", promptReady)
	if strings.Contains(shown, "SELECT 4") {
		t.Errorf("the console continues after exit:\n%s", shown)
	}
	shown = s.typeKeys("DROP JOB\r missing;\rSELECT nothing\r FROM sys.jobs;\r\x04", nil)
	containsInOrder(t, shown, "ERROR:  42704: there is no job missing\n", "HINT:  ", "ERROR:  42")
}

func TestConsoleCtrlCDiscardsInput(t *testing.T) {
	s := startServer(t)
	shown := s.typeKeys("SELECT 1 AS one,\rmistake\x03SELECT 2 AS two;\r\x1b\x03SELECT 3 AS three;\r\x04", nil)
	containsInOrder(t, shown, promptMore, promptReady+"SELECT 2", " two\n", promptReady, " three\n")
	if strings.Contains(shown, " one\n") || strings.Contains(shown, "ERROR") {
		t.Errorf("discarded input was run:\n%s", shown)
	}
}

func TestConsoleCommands(t *testing.T) {
	s := startServer(t)
	s.must("sql 'CREATE JOB tidy SCHEDULE EVERY 1 HOUR AS CALL noop()'")
	file := filepath.Join(t.TempDir(), "more.sql")
	if err := os.WriteFile(file, []byte("EXECUTE JOB tidy;\nDROP JOB missing;\nDROP JOB tidy;"), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := s.typeKeys(`\?`+"\r"+`\d`+"\r"+`\d sys.nodes`+"\r"+`\d missing`+"\r"+`\j`+"\r"+`\timing`+"\r"+`\x on`+"\r"+
		"SELECT 1 AS one;\r"+`\x perhaps`+"\r"+`\i `+file+"\r"+`\i`+"\r"+`\nosuch`+"\rSELECT 'a\r"+`\q';`+"\rSELECT\r"+`\r`+"\r"+`\q`+"\r", nil)
	containsInOrder(t, shown, "Ctrl-D exits", " sys.jobs ", " is_leader     | boolean\n", " tidy ", "Timing is on.", "Expanded display is on.",
		"-[ RECORD 1 ]\none | 1\n", "Time: ", "job_run_uuid | ", `| \q`+"\n")
	containsInOrder(t, shown, "there is no table missing", `unknown value perhaps of \x`, file+":2: ERROR:  42704", `\i needs the name of a file`, `there is no command \nosuch`)
	if left := s.must("schedule list"); !strings.Contains(left, "tidy") {
		t.Errorf("the file continued after an error: %s", left)
	}
}

// TestConsoleTransactions: each statement is previewed when it is entered, and COMMIT applies all of them.
func TestConsoleTransactions(t *testing.T) {
	s := startServer(t)
	jobs := func() string { return s.must("sql 'SELECT count(*) AS jobs FROM sys.jobs'") }
	both := " jobs\n------\n    2\n(1 row)\n"
	create := "CREATE JOB %s SCHEDULE EVERY 1 HOUR AS CALL noop()"
	a, b := fmt.Sprintf(create, "a"), fmt.Sprintf(create, "b")
	shown := s.typeKeys("BEGIN;\r"+a+";\r"+b+" DEPENDS ON a;\rSELECT count(*) AS n FROM sys.jobs;\rEXECUTE JOB b;\rCOMMIT;\r\x04", nil)
	containsInOrder(t, shown, promptReady+"BEGIN;\nBEGIN\n", promptTransaction, "CREATE JOB\n", promptTransaction, "CREATE JOB\n", " 0\n", "EXECUTE JOB\n"+promptTransaction+"COMMIT;\n", "job_run_uuid", "COMMIT\n"+promptReady)
	if jobs() != both || !strings.Contains(s.must("job runs b"), "b") {
		t.Errorf("the transaction was not applied:\n%s", shown)
	}
	shown = s.typeKeys("BEGIN; DROP JOB b;\rCREATE JOB c\r SHEDULE;\rDROP JOB a;\rCOMMIT;\rBEGIN;\rDROP JOB b;\rROLLBACK;\r\x04", nil)
	containsInOrder(t, shown, promptTransaction, promptFailed, promptFailed, "ROLLBACK\n"+promptReady+"BEGIN", "ROLLBACK\n"+promptReady)
	containsInOrder(t, shown, "ERROR:  42601: ", "LINE 2:  SHEDULE\n         ^\n", "ERROR:  25P02: ", "NOTICE:  the transaction failed and was rolled back")
	if jobs() != both {
		t.Errorf("a part of the transaction was applied:\n%s", shown)
	}
}

func TestConsoleCompletion(t *testing.T) {
	s := startServer(t)
	for _, name := range []string{"tidy", "tidings", `"Big-One"`} {
		s.must("sql 'CREATE JOB " + name + " SCHEDULE EVERY 1 HOUR AS CALL noop()'")
	}
	c := newSQLConsole(&sqlPrinter{app: &app{environment: environment{getenv: func(name string) string {
		return map[string]string{"ROTA_DATA": s.data}[name]
	}}}})
	var listed strings.Builder
	k := &sqlCompleter{console: c, list: &listed, timeout: time.Minute}
	for line, want := range map[string]string{
		"SEL": "SELECT ", "sel": "select ", "SELECT * FROM sys.job_r": "SELECT * FROM sys.job_runs ",
		"SELECT * FROM sys.nodes WHERE is_l": "SELECT * FROM sys.nodes WHERE is_leader ", "EXECUTE JOB t": "EXECUTE JOB tid",
		"DROP JOB IF EXISTS tidy": "DROP JOB IF EXISTS tidy ", `ALTER JOB "B`: `ALTER JOB "Big-One" `, "CREATE JOB tidy": "CREATE JOB tidy",
		"\t": "\t ", "": " ", "xyzzy": "xyzzy", "DEPENDS ON tidings, tidy": "DEPENDS ON tidings, tidy ",
	} {
		got, pos, is := k.key(line, len(line), '\t')
		if !is || got != want || pos != len(want) {
			t.Errorf("%q becomes %q, not %q (%d)", line, got, want, pos)
		}
	}
	if _, _, is := k.key("SEL", 3, 'E'); is {
		t.Error("another key completes")
	}
	if got, pos, _ := k.key("SEL 1", 3, '\t'); got != "SELECT 1" || pos != len("SELECT ") {
		t.Errorf("within a line: %q, %d", got, pos)
	}
	for range 2 {
		k.key("EXECUTE JOB tid", len("EXECUTE JOB tid"), '\t')
	}
	if listed.String() != "tidings  tidy\n" {
		t.Errorf("the candidates are %q", listed.String())
	}
	if known := k.cache["tid"]; len(known.names) != 2 || time.Since(known.at) > namesCacheTTL {
		t.Errorf("the names are not cached: %+v", k.cache)
	}
}

// TestHistoryIsPrivateBoundedAndWithoutSecrets covers storing, permissions, the limit and statements with secrets.
func TestHistoryIsPrivateBoundedAndWithoutSecrets(t *testing.T) {
	s := startServer(t)
	home := t.TempDir()
	env := map[string]string{"HOME": home}
	s.typeKeys("SELECT 1 AS first;\rALTER JOB x SET\r SECRET 'k' =\r 'hunter2';\rCREATE USER u Password 'hunter3';\rALTER JOB x SET\r SECRT 'k' = 'hunter4';\rSET SECRET 'k' = 'hunter5';\rSET\r SECRT 'k' = 'hunter6';\r\x1b[A\x15"+`\d sys.nodes`+"\r\x04", env)
	path := filepath.Join(home, ".local/state/rota/sql_history")
	content, err := os.ReadFile(path)
	if err != nil || string(content) != "SELECT 1 AS first;\n\\d sys.nodes\n" {
		t.Errorf("%q %v", content, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	containsInOrder(t, s.typeKeys("\x1b[A\x1b[A\r\x04", env), " first\n-------\n     1\n")
	var many []string
	for i := range historyMax + 500 {
		many = append(many, fmt.Sprint("line ", i))
	}
	if err := os.WriteFile(path, []byte(strings.Join(many, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openSQLHistory(path)
	if h.Len() != historyMax || h.At(0) != "line 1499" || h.At(historyMax-1) != "line 500" {
		t.Errorf("%d lines, from %s to %s", h.Len(), h.At(h.Len()-1), h.At(0))
	}
	if again := openSQLHistory(path); !slices.Equal(again.lines, h.lines) {
		t.Error("the rewritten file differs")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	h.Add("the same")
	h.Add("the same")
	if h.Len() != historyMax || h.At(1) == "the same" {
		t.Error("a repeated line is stored twice")
	}
}

func TestHistoryFilePath(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"/h/.local/state/rota/sql_history": {"HOME": "/h"},
		"/s/rota/sql_history":              {"HOME": "/h", "XDG_STATE_HOME": "/s"},
		"/i/.local/state/rota/sql_history": {"HOME": "/i", "XDG_STATE_HOME": "relative"},
		"":                                 {},
	} {
		if got := historyFile(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: %s", env, got)
		}
	}
}
