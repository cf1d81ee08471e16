package drivertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// psql runs a script, each line of which stands before what is answered to it.
func (s *server) psql(t testing.TB, script string, args ...string) (out string, err error) {
	t.Helper()
	return s.run(t, script, program(t, "psql", "postgresql-client"), append([]string{"-X", "-a"}, args...)...)
}

// TestPsqlScripts holds what psql shows against transcripts. The scripts of one
// server run in the order of their names, and each leaves it as it was.
func TestPsqlScripts(t *testing.T) {
	s := filled(t)
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

// TestPsqlOptions are the ways of psql that no script shows.
func TestPsqlOptions(t *testing.T) {
	s := filled(t)
	const made = "CREATE JOB a SCHEDULE EVERY 1 HOUR AS 'SELECT 1'"
	const again = "CREATE JOB tick SCHEDULE EVERY 1 HOUR AS 'SELECT 1'"
	for _, test := range []struct {
		name   string
		args   []string
		code   int
		want   string
		leaves string
	}{
		{"several statements are one transaction", []string{"-c", made + "; " + again}, 1, "CREATE JOB\nERROR:  there is a job tick already", "0"},
		{"several commands are several", []string{"-c", made, "-c", again}, 1, "CREATE JOB\nERROR:  there is a job tick already", "1"},
		{"a single transaction", []string{"-1", "-c", made, "-c", again}, 1, "CREATE JOB\nERROR:  there is a job tick already", "0"},
		{"a single transaction that is right", []string{"--single-transaction", "-c", made, "-c", "SELECT 1"}, 0, "NOTICE:  what this transaction changes is seen after COMMIT\n?column?\n1\n(1 row)", "1"},
		{"it stops at an error", []string{"-v", "ON_ERROR_STOP=1", "-f", "testdata/stop.sql"}, 3, "psql:testdata/stop.sql:1: ERROR:  there is a job tick already", "0"},
		{"it goes on after an error", []string{"-f", "testdata/stop.sql"}, 0, "psql:testdata/stop.sql:1: ERROR:  there is a job tick already", "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := s.run(t, "", program(t, "psql", "postgresql-client"), append([]string{"-X", "-A", "-q", "-v", "SHOW_ALL_RESULTS=on"}, test.args...)...)
			code := 0
			if exit, is := err.(interface{ ExitCode() int }); is {
				code = exit.ExitCode()
			}
			if !strings.HasPrefix(out, strings.ReplaceAll(test.want, "CREATE JOB\n", "")) || code != test.code {
				t.Errorf("it ended with %d and said\n%s\nwant %d and\n%s", code, out, test.code, test.want)
			}
			if left, _ := s.run(t, "", "psql", "-X", "-A", "-t", "-c", "SELECT count(*) FROM sys.jobs WHERE job_name = 'a'"); strings.TrimSpace(left) != test.leaves {
				t.Errorf("it left %s, want %s", left, test.leaves)
			}
			s.do(t, "DROP JOB IF EXISTS a")
		})
	}
}
