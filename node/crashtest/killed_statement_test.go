//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// killedStatement is a statement, and the verb at which the server kills itself while it
// executes the statement.
type killedStatement struct {
	setup        string // statements that create what the statement needs
	statement    string
	verb         rota.Verb
	resultBefore string // rows of the query before the statement
	resultAfter  string // rows of the query after the statement
	query        string
}

const countJob = "SELECT count(*) FROM sys.jobs j JOIN sys.templates t ON t.template_name = j.template WHERE j.job_name = 'j' AND t.state = 'ACTIVE'"

var killedStatements = []killedStatement{
	{"", "CREATE JOB j SCHEDULE = EVERY 100 DAYS AS CALL noop()", rota.VerbAll, "[[0]]", "[[1]]", countJob},
	{
		"CREATE JOB j SCHEDULE = EVERY 100 DAYS AS CALL noop()", "ALTER JOB j SET AS 'SELECT 1' SET MAX_RETRIES = 7", rota.VerbAll,
		"[[PROCEDURE 3]]", "[[SQL 7]]", "SELECT job_type, max_retries FROM sys.jobs WHERE job_name = 'j'",
	},
	{
		"CREATE JOB j SCHEDULE = EVERY 100 DAYS AS CALL noop()", "ALTER JOB j SET STATE = PAUSED", rota.VerbPutSchedule,
		"[[ENABLED]]", "[[PAUSED]]", "SELECT state FROM sys.jobs WHERE job_name = 'j'",
	},
	{
		"CREATE JOB j SCHEDULE = EVERY 100 DAYS AS CALL noop(); EXECUTE JOB j", "RECREATE JOB j SCHEDULE = EVERY 200 DAYS AS 'SELECT 1'", rota.VerbAll,
		"[[8640000 PROCEDURE 1]]", "[[17280000 SQL 0]]",
		"SELECT interval_seconds, job_type, (SELECT count(*) FROM sys.job_runs WHERE job_name = 'j') FROM sys.jobs WHERE job_name = 'j'",
	},
	{
		"CREATE JOB j SCHEDULE = EVERY 100 DAYS AS CALL noop(); EXECUTE JOB j", "DROP JOB j", rota.VerbDrop,
		"[[1 1]]", "[[0 0]]", "SELECT (SELECT count(*) FROM sys.jobs WHERE job_name = 'j'), (SELECT count(*) FROM sys.job_runs WHERE job_name = 'j')",
	},
	{
		"CREATE JOB j SCHEDULE = EVERY 100 DAYS AS CALL noop()", "EXECUTE JOB j", rota.VerbTrigger,
		"[[0]]", "[[1]]", "SELECT count(*) FROM sys.job_runs WHERE job_name = 'j'",
	},
	{
		"CREATE JOB j SCHEDULE = EVERY 100 DAYS AS CALL noop()",
		"BEGIN; DROP JOB j; CREATE JOB k SCHEDULE = EVERY 100 DAYS AS CALL noop(); CREATE JOB l DEPENDS ON k SCHEDULE = EVERY 100 DAYS AS CALL noop(); COMMIT", rota.VerbAll,
		"[[j]]", "[[k] [l]]", "SELECT job_name FROM sys.jobs ORDER BY 1",
	},
}

// TestKilledStatementIsAppliedWhollyOrNot kills a server just before or just after a
// statement takes effect: the statement has no effect or its whole effect. The caller
// sends it again with the same key, and it is executed once.
func TestKilledStatementIsAppliedWhollyOrNot(t *testing.T) {
	t.Parallel()
	for i, k := range killedStatements {
		for _, when := range []string{"before", "after"} {
			t.Run(fmt.Sprint(i, " ", k.verb, " ", when), func(t *testing.T) {
				t.Parallel()
				k.test(newServerDir(t), when)
			})
		}
	}
}

func (k killedStatement) test(s *serverDir, when string) {
	s.Helper()
	c := newCaller(s)
	first := s.startUntilReady()
	if k.setup != "" {
		c.sql(k.setup)
		c.waitUntilIdle()
	}
	if got := c.sql(k.query); got != k.resultBefore {
		s.Fatalf("before the statement the query returns %s, want %s", got, k.resultBefore)
	}
	first.stop()

	dying := s.startUntilReady(killPoint{verb: string(k.verb), when: when}.env())
	answered := make(chan error, 1)
	go func() {
		a, err := c.write(context.Background(), http.MethodPost, "/sql", object{"statement": k.statement})
		if err == nil && a.status >= 300 {
			err = fmt.Errorf("status %d: %s", a.status, a.body)
		}
		answered <- err
	}()
	if !dying.endsWithin(waitMax) {
		s.Fatalf("the server does not reach %s %s", k.verb, when)
	}
	k.verify(s)
	last := s.startUntilReady()
	must(s, <-answered)
	if got := c.sql(k.query); got != k.resultAfter {
		s.Errorf("after the retry the query returns %s, want %s", got, k.resultAfter)
	}
	last.stop()
	k.verify(s)
}

// verify verifies the store while no server uses it.
func (k killedStatement) verify(s *serverDir) {
	s.Helper()
	store, err := sqlite.OpenWith(s.database(), sqlite.Config{ReadOnly: true})
	must(s, err)
	verifyStore(s, store)
	must(s, store.Close())
}

// sql runs statements and returns the rows of the last.
func (c *caller) sql(text string) string {
	c.serverDir.Helper()
	var answer struct {
		Rows [][]any `json:"rows"`
	}
	c.mustWrite(http.MethodPost, "/sql", object{"statement": text}, &answer)
	if answer.Rows == nil {
		answer.Rows = [][]any{}
	}
	for _, row := range answer.Rows {
		for i, v := range row {
			if n, is := v.(float64); is {
				row[i] = int64(n)
			}
		}
	}
	return fmt.Sprint(answer.Rows)
}
