package drivertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// psql runs a script. Its output has each line of the script before its answer.
func (s *server) psql(t testing.TB, script string, args ...string) (out string, err error) {
	t.Helper()
	return s.run(t, script, findProgram(t, "psql", "postgresql-client"), append([]string{"-X", "-a"}, args...)...)
}

// The output of psql equals the transcripts. The scripts share one server and run in the order of
// their names; each restores the state of the server.
func TestPsqlTranscripts(t *testing.T) {
	s := startWithHistory(t)
	files, err := filepath.Glob("testdata/psql/*.sql")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := s.psql(t, string(script))
			golden(t, "psql/"+name+".out", out)
		})
	}
}

// Command-line options of psql that the scripts do not cover.
func TestPsqlOptions(t *testing.T) {
	s := startWithHistory(t)
	const create = "CREATE JOB a SCHEDULE EVERY 1 HOUR AS 'SELECT 1'"
	const createExisting = "CREATE JOB tick SCHEDULE EVERY 1 HOUR AS 'SELECT 1'"
	for _, test := range []struct {
		name   string
		args   []string
		code   int
		want   string
		leaves string
	}{
		{"several statements are one transaction", []string{"-c", create + "; " + createExisting}, 1, "CREATE JOB\nERROR:  job tick already exists", "0"},
		{"several commands are several", []string{"-c", create, "-c", createExisting}, 1, "CREATE JOB\nERROR:  job tick already exists", "1"},
		{"a single transaction", []string{"-1", "-c", create, "-c", createExisting}, 1, "CREATE JOB\nERROR:  job tick already exists", "0"},
		{"a single transaction that is right", []string{"--single-transaction", "-c", create, "-c", "SELECT 1"}, 0, "NOTICE:  queries do not see the changes of this transaction until COMMIT\n?column?\n1\n(1 row)", "1"},
		{"it stops at an error", []string{"-v", "ON_ERROR_STOP=1", "-f", "testdata/stop.sql"}, 3, "psql:testdata/stop.sql:1: ERROR:  job tick already exists", "0"},
		{"it goes on after an error", []string{"-f", "testdata/stop.sql"}, 0, "psql:testdata/stop.sql:1: ERROR:  job tick already exists", "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := s.run(t, "", findProgram(t, "psql", "postgresql-client"), append([]string{"-X", "-A", "-q", "-v", "SHOW_ALL_RESULTS=on"}, test.args...)...)
			code := 0
			if exit, is := err.(interface{ ExitCode() int }); is {
				code = exit.ExitCode()
			}
			if !strings.HasPrefix(out, strings.ReplaceAll(test.want, "CREATE JOB\n", "")) || code != test.code {
				t.Errorf("psql exited with %d and printed\n%s\nwant %d and\n%s", code, out, test.code, test.want)
			}
			if left, _ := s.run(t, "", "psql", "-X", "-A", "-t", "-c", "SELECT count(*) FROM sys.jobs WHERE job_name = 'a'"); strings.TrimSpace(left) != test.leaves {
				t.Errorf("%s jobs are left, want %s", left, test.leaves)
			}
			s.exec(t, "DROP JOB IF EXISTS a")
		})
	}
}
