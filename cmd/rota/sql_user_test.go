package main

import (
	"strings"
	"testing"
)

// TestSQLOfUserExitsByVerdict: a statement that a user may not run exits with denied, one about what it may not see with not
// found, as any other command.
func TestSQLOfUserExitsByVerdict(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.must("user create ada --no-password")
	for _, statement := range []string{
		"CREATE JOB theirs SCHEDULE EVERY 1 HOUR DISABLED AS CALL noop()", "CREATE JOB hidden SCHEDULE EVERY 1 HOUR DISABLED AS CALL noop()",
		"GRANT EXECUTE JOB ON JOB theirs TO ada",
	} {
		s.must("sql '" + statement + "'")
	}
	token := strings.TrimSpace(s.must("token create --user ada --scope write --expires 1d"))
	for _, one := range []struct {
		line, text string
		code       int
	}{
		{"sql 'EXECUTE JOB theirs'", "job_run_uuid", exitDone},
		{"sql 'DROP JOB theirs'", "user ada has no DROP JOB on theirs", exitDenied},
		{`schedule delete theirs --yes`, "user ada has no DROP JOB on theirs", exitDenied},
		{"sql 'DROP JOB hidden'", "there is no job hidden", exitNotFound},
		{`schedule delete hidden --yes`, "there is no schedule hidden", exitNotFound},
		{"sql 'SELECT job_name FROM sys.jobs'", "(1 row)", exitDone},
		{"sql 'CREATE USER eve'", "user ada has no ADMIN", exitDenied},
		{`user create eve --no-password`, "user ada has no ADMIN", exitDenied},
	} {
		out, errs, code := s.runWith(one.line, terminal{}, map[string]string{"ROTA_TOKEN": token})
		if code != one.code || !strings.Contains(out+errs, one.text) {
			t.Errorf("rota %s exits with %d, want %d: %s%s", one.line, code, one.code, out, errs)
		}
	}
}
