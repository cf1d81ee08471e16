package drivertest

import (
	"os"
	"strings"
	"testing"
)

const userPassword = "correct-horse-battery"

// as returns the server for clients that log in as another user.
func (s *server) as(user, password string) *server {
	other := *s
	other.user, other.password = user, password
	return &other
}

// startWithUser runs a node with the user ada: it owns one job, may execute another one, and may not see a third.
func startWithUser(t *testing.T) (admin, ada *server) {
	t.Helper()
	s := startNode(t)
	s.exec(
		t, "CREATE USER ada PASSWORD '"+userPassword+"'", "CREATE USER bob", "CREATE ROLE ops", "CREATE ROLE staff", "GRANT staff TO ada",
		"GRANT CREATE JOB TO staff", "CREATE JOB theirs SCHEDULE EVERY 1 HOUR DISABLED AS CALL noop()", "GRANT EXECUTE JOB ON JOB theirs TO ada",
		"CREATE JOB hidden SCHEDULE EVERY 1 HOUR DISABLED AS CALL noop()",
	)
	ada = s.as("ada", userPassword)
	ada.exec(t, "CREATE JOB mine SCHEDULE EVERY 1 HOUR DISABLED AS CALL noop()")
	return s, ada
}

// The output of psql for a user with few rights: what it lists, and the SQLSTATE and words of each refusal.
func TestPsqlTranscriptOfUser(t *testing.T) {
	_, ada := startWithUser(t)
	script, err := os.ReadFile("testdata/psql_user/ada.sql")
	if err != nil {
		t.Fatal(err)
	}
	out, _ := ada.psql(t, string(script))
	for _, state := range []string{"42501", "42704", "42710", "22023"} {
		if !strings.Contains(out, "ERROR:  "+state) {
			t.Errorf("no statement is refused with %s", state)
		}
	}
	golden(t, "psql_user/ada.out", out)
}

// A user that is no administrator sets its own password with \password, and logs in with the new one.
func TestPsqlPasswordOfUserItself(t *testing.T) {
	_, ada := startWithUser(t)
	const changed = "battery-staple-horse"
	out, err := ada.run(t, "", python, "testdata/type.py", findProgram(t, "psql", "postgresql-client"), `\\password\r`+changed+`\r`+changed+`\n`)
	if err != nil || strings.Contains(out, "ERROR") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := ada.as("ada", changed).psql(t, "SELECT current_user;"); err != nil || !strings.Contains(out, "ada") {
		t.Errorf("with the new password: %v\n%s", err, out)
	}
	if out, err := ada.psql(t, "SELECT 1;"); err == nil || !strings.Contains(out, "password authentication failed") {
		t.Errorf("with the old password: %v\n%s", err, out)
	}
	if out, err := ada.as("ada", changed).run(t, "", python, "testdata/type.py", findProgram(t, "psql", "postgresql-client"), `\\password bob\r`+changed+`\r`+changed+`\n`); err != nil || !strings.Contains(out, "has no ADMIN") {
		t.Errorf("the password of another user: %v\n%s", err, out)
	}
}
