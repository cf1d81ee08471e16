package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// sendWithKey runs a text in a session whose command ids derive from the key.
func (b *fixture) sendWithKey(key string, again bool, text string) string {
	b.Helper()
	first, n := b.keys[key], byte(0)
	if first.ID.IsZero() {
		first = rota.NewMeta("admin")
		b.keys[key] = first
	}
	session := b.console.RequestSession(b.store, "admin", func() rota.Meta {
		n++
		meta := first
		meta.ID = first.ID.Derive([]byte{n})
		return meta
	})
	session.BeforeSend(func() error { return nil }, again)
	answers, err := session.Answers(context.Background(), text)
	if err != nil {
		return err.Error()
	}
	return formatAnswer(answers[len(answers)-1])
}

// TestResentStatementAnswersTheSameAndRunsOnce sends a statement twice with the same ids and runs other
// statements in between.
func TestResentStatementAnswersTheSameAndRunsOnce(t *testing.T) {
	const make = "CREATE JOB j SCHEDULE = EVERY 1 HOUR AS 'SELECT 1'"
	for _, test := range []struct{ name, before, statement, between, query string }{
		{"create", "", make, "", "SELECT job_sql FROM sys.jobs"},
		{"create, then dropped", "", make, "DROP JOB j", "SELECT template_name, state FROM sys.templates"},
		{"create, then altered", "", make, "ALTER JOB j SET AS 'SELECT 2' SET PRIORITY = 3", "SELECT job_sql, priority FROM sys.jobs"},
		{
			"create or alter, then altered", make, "CREATE OR ALTER JOB j SCHEDULE = EVERY 2 HOURS AS 'SELECT 1'",
			"ALTER JOB j SET AS 'SELECT 2' SET PRIORITY = 3", "SELECT job_sql, priority, interval_seconds FROM sys.jobs",
		},
		{"alter, then altered", make, "ALTER JOB j SET AS 'SELECT 3'", "ALTER JOB j SET AS 'SELECT 4' SET PRIORITY = 3", "SELECT job_sql, priority FROM sys.jobs"},
		{"recreate, then run", make, "RECREATE JOB j SCHEDULE = EVERY 2 HOURS AS 'SELECT 1'", "EXECUTE JOB j", "SELECT state FROM sys.job_runs"},
		{"recreate of nothing, then run", "", "RECREATE JOB j SCHEDULE = EVERY 2 HOURS AS 'SELECT 1'", "EXECUTE JOB j", "SELECT state FROM sys.job_runs"},
		{"execute", make, "EXECUTE JOB j", "", "SELECT count(*) FROM sys.job_runs"},
		{"execute, then dropped", make, "EXECUTE JOB j", "DROP JOB j KEEP HISTORY", "SELECT count(*) FROM sys.job_runs"},
		{"drop, then made again", make, "DROP JOB j", make + "; EXECUTE JOB j", "SELECT count(*) FROM sys.job_runs"},
		{
			"several, then dropped", "", "BEGIN; " + make + "; CREATE JOB k DEPENDS ON j SCHEDULE = EVERY 1 HOUR AS CALL noop(); COMMIT", "DROP JOB k",
			"SELECT job_name FROM sys.jobs",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newFixture(t)
			b.run(test.before)
			b.clock.move(time.Second)
			first := b.sendWithKey("key", false, test.statement)
			b.clock.move(time.Second)
			if between := b.run(test.between); strings.Contains(between, "ERROR") || strings.Contains(first, "(") {
				t.Fatalf("%s, then %s", first, between)
			}
			b.clock.move(time.Second)
			was := b.run(test.query)
			if again := b.sendWithKey("key", true, test.statement); again != first {
				t.Errorf("the first answer was %s, the second %s", first, again)
			}
			if is := b.run(test.query); is != was {
				t.Errorf("it was\n%s, and is\n%s", was, is)
			}
		})
	}
}

// TestStatementsAfterCommitInOneTextAreOneTransaction checks that statements after COMMIT or
// ROLLBACK in one text are one implicit transaction.
func TestStatementsAfterCommitInOneTextAreOneTransaction(t *testing.T) {
	const a, b2 = "CREATE JOB a SCHEDULE = EVERY 1 HOUR AS CALL noop()", "CREATE JOB b SCHEDULE = EVERY 1 HOUR AS CALL noop()"
	b := newFixture(t)
	b.has("BEGIN; COMMIT; "+a+"; "+a, "(42710)")
	b.has("BEGIN; "+b2+"; ROLLBACK; "+a+"; DROP JOB nobody", "(42704)")
	b.has("SELECT count(*) FROM sys.jobs", "\n0\n")
	b.has("BEGIN; "+a+"; COMMIT; "+b2+"; EXECUTE JOB b", "EXECUTE JOB")
	b.has("SELECT count(*) FROM sys.jobs", "\n2\n")
}

// TestLongTransactionReportsCycleAtStatement checks a dependency cycle in a transaction whose dry runs send
// only related commands.
func TestLongTransactionReportsCycleAtStatement(t *testing.T) {
	b := newFixture(t)
	b.run("BEGIN")
	for i := range 500 {
		b.has(fmt.Sprintf("CREATE JOB j%d SCHEDULE = EVERY 1 HOUR AS CALL noop()", i), "CREATE JOB")
	}
	b.has("CREATE JOB last DEPENDS ON j7 SCHEDULE = EVERY 1 HOUR AS CALL noop()", "CREATE JOB")
	b.has("ALTER JOB j7 SET DEPENDS ON last", "(22023)")
	b.has("COMMIT", "ROLLBACK")
	b.has("SELECT count(*) FROM sys.jobs", "\n0\n")
}
