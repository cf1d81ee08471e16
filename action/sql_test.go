package action

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestFailedStatementRollsBackRun(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t)
		w.mustComplete(statement("CREATE TABLE a (id INT PRIMARY KEY, note TEXT)"))
		done := w.mustComplete(statement("INSERT INTO a VALUES (1, 'x;y'), (2, 'z'); -- and; then\nUPDATE a SET note = 'n' WHERE id = 1;\n;DELETE FROM a WHERE id = 3;"))
		if n := done.Run.RowsAffected; n == nil || *n != 3 {
			t.Errorf("rows affected: %v", n)
		}
		w.mustFail(statement("INSERT INTO a VALUES (3, 'x');\n  INSERT INTO a VALUES (1, 'x')"), g.duplicateKeyCode, "target t: line 2", g.duplicateKeyCode)
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "2" {
			t.Errorf("the table has %s rows after a statement that failed", n)
		}
		if n := g.queryValue(t, "SELECT count(*) FROM rota_effects"); n != "2" {
			t.Errorf("%s effects of two completed jobs", n)
		}
		if got := g.queryValue(t, "SELECT rows_affected FROM rota_effects WHERE execution_id = '"+done.ExecutionID.String()+"'"); got != "3" {
			t.Errorf("the effect has %s rows affected", got)
		}
	})
}

// TestRetryAfterCommitExecutesNothing: the first attempt commits, and then fails.
func TestRetryAfterCommitExecutesNothing(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t, func(next engine.Handler) engine.Handler {
			return func(ctx context.Context, job *rota.Job) error {
				err := next(ctx, job)
				if err == nil && job.Attempt == 1 && job.Name == "lost" {
					return errors.New("the answer is lost")
				}
				return err
			}
		})
		w.mustComplete(statement("CREATE TABLE a (id INT)"))
		lost := statement("INSERT INTO a VALUES (1), (2)")
		lost.Name, lost.MaxRetries = "lost", new(1)
		jobs := w.waitAttempts(w.enqueue(lost))
		last := jobs[len(jobs)-1]
		if len(jobs) != 2 || last.Run.Outcome != rota.OutcomeCompleted || last.Run.RowsAffected == nil || *last.Run.RowsAffected != 2 {
			t.Errorf("%d attempts, the last %s with %v rows: %s", len(jobs), last.Run.Outcome, last.Run.RowsAffected, last.Run.Error)
		}
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "2" {
			t.Errorf("%s rows: the statement was executed twice", n)
		}
		if job := g.queryValue(t, "SELECT job FROM rota_effects WHERE execution_id = '"+last.ExecutionID.String()+"'"); job != "lost" {
			t.Errorf("the effect names the job %q", job)
		}
	})
}

// TestConcurrentAttemptsExecuteOnce runs each job three times at once, as happens if a
// worker has lost its lease and has not noticed.
func TestConcurrentAttemptsExecuteOnce(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t, func(next engine.Handler) engine.Handler {
			return func(ctx context.Context, job *rota.Job) error {
				var wg sync.WaitGroup
				var errs [3]error
				for i := range errs {
					wg.Go(func() { errs[i] = next(ctx, job) })
				}
				wg.Wait()
				return errors.Join(errs[:]...)
			}
		})
		// The table of effects does not exist yet, so the attempts also create it concurrently.
		g.query(t, "CREATE TABLE a (id INT)")
		for range 3 {
			w.mustComplete(statement("INSERT INTO a VALUES (1)"))
		}
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "3" {
			t.Errorf("%s rows of 3 jobs", n)
		}
	})
}

func TestTimeoutCancelsStatementInServer(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t)
		w.mustComplete(statement("CREATE TABLE a (id INT)"))
		late := statement("INSERT INTO a VALUES (1); %s", g.slowStatement)
		late.Timeout = new(300 * time.Millisecond)
		done := w.waitEnded(w.enqueue(late))
		if done.Run.Outcome != rota.OutcomeCancelled || done.Run.ErrorCode != rota.CodeTimeout {
			t.Errorf("%s, %s: %s", done.Run.Outcome, done.Run.ErrorCode, done.Run.Error)
		}
		waitFor(t, "the server executes no statement", func() bool { return g.activeStatements(t) == 0 })
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "0" {
			t.Errorf("a cancelled run left %s rows", n)
		}
	})
}

func TestCancelCancelsStatementInServer(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t)
		w.mustComplete(statement("CREATE TABLE a (id INT)"))
		id := w.enqueue(statement("INSERT INTO a VALUES (1); %s", g.slowStatement))
		waitFor(t, "the statement runs", func() bool { return g.activeStatements(t) > 0 })
		if _, err := rota.Do[*rota.CancelledJob](t.Context(), w.store, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: id}); err != nil {
			t.Fatal(err)
		}
		if done := w.waitEnded(id); done.Run.Outcome != rota.OutcomeCancelled || done.Run.ErrorCode != rota.CodeCancelled {
			t.Errorf("%s, %s: %s", done.Run.Outcome, done.Run.ErrorCode, done.Run.Error)
		}
		waitFor(t, "the server executes no statement", func() bool { return g.activeStatements(t) == 0 })
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "0" {
			t.Errorf("a cancelled run left %s rows", n)
		}
	})
}

func TestTargetTimeoutFailsRun(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		g.target.Timeout = 300 * time.Millisecond
		w := g.newEnv(t)
		w.mustFail(statement("%s", g.slowStatement), rota.CodeTimeout, "target t", "300ms")
		waitFor(t, "the server executes no statement", func() bool { return g.activeStatements(t) == 0 })
	})
}

func TestResultHasFirstRows(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t)
		w.mustComplete(statement("CREATE TABLE a (id INT, note VARCHAR(2000))"))
		for range 3 {
			w.mustComplete(statement("INSERT INTO a VALUES %s (1, 'x')", strings.Repeat("(1, 'x'), ", 49)))
		}
		rows := result[Rows](w, w.mustComplete(statement("SELECT 7 AS seven; SELECT id, note AS \"the note\" FROM a; UPDATE a SET id = 2")))
		if len(rows.Rows) != 100 || !rows.Truncated || !reflect.DeepEqual(rows.Rows[0], []any{1.0, "x"}) || rows.Columns[1] != "the note" {
			t.Errorf("%d rows, truncated %v, %v of %v", len(rows.Rows), rows.Truncated, rows.Rows[0], rows.Columns)
		}
		rows = result[Rows](w, w.mustComplete(statement("SELECT id FROM a WHERE id > 5")))
		if len(rows.Rows) != 0 || rows.Truncated || !reflect.DeepEqual(rows.Columns, []string{"id"}) {
			t.Errorf("%+v", rows)
		}
		w.mustComplete(statement("UPDATE a SET note = '%s'", strings.Repeat("é", 900)))
		done := w.mustComplete(statement("SELECT note FROM a"))
		if rows = result[Rows](w, done); len(rows.Rows) < 8 || len(rows.Rows) > 9 || !rows.Truncated || len(done.Run.Result) > 17<<10 {
			t.Errorf("%d rows in %d bytes", len(rows.Rows), len(done.Run.Result))
		}
		if done := w.mustComplete(statement("DELETE FROM a")); done.Run.Result != nil || *done.Run.RowsAffected != 150 {
			t.Errorf("%s, %d rows", done.Run.Result, *done.Run.RowsAffected)
		}
	})
}

func TestStatementThatEndsTransactionIsRefused(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t)
		w.mustComplete(statement("CREATE TABLE a (id INT)"))
		for _, text := range []string{"COMMIT", "commit work", "/* x */ BEGIN", "ROLLBACK", "-- y\nBEGIN"} {
			j := statement("INSERT INTO a VALUES (1);\n%s;\nINSERT INTO a VALUES (2)", text)
			j.MaxRetries = new(3)
			if done := w.mustFail(j, codeTransaction, "line ", "is refused"); done.Sequel != rota.SequelDead {
				t.Errorf("%s: the refused script is retried", text)
			}
		}
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "0" {
			t.Errorf("refused scripts left %s rows", n)
		}
		w.mustComplete(statement("INSERT INTO a VALUES (1); SAVEPOINT s; INSERT INTO a VALUES (2); ROLLBACK TO s; INSERT INTO a VALUES ('3')"))
		if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "2" {
			t.Errorf("a script with a savepoint wrote %s rows", n)
		}
	})
}

func TestSyntaxErrorIsPermanent(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		w := g.newEnv(t)
		wrong := statement("SELECT 1;\nSELECT 'é' FROM\n  WHERE")
		wrong.MaxRetries = new(2)
		if done := w.mustFail(wrong, g.syntaxErrorCode, "line 3"); done.Sequel != rota.SequelDead {
			t.Error("a syntax error is retried")
		}
		missing := statement("SELECT * FROM missing")
		missing.MaxRetries = new(2)
		jobs := w.waitAttempts(w.enqueue(missing))
		if len(jobs) != 3 || !strings.Contains(jobs[0].Run.Error, "missing") {
			t.Errorf("a job on a missing table has %d attempts: %s", len(jobs), jobs[0].Run.Error)
		}
		w.mustFail(statement("-- nothing\n;"), codeParams, "contains no statement")
	})
}

// TestOldEffectsAreRemoved writes old and new effects, and checks which remain after a
// run.
func TestOldEffectsAreRemoved(t *testing.T) {
	onEachTarget(t, func(t *testing.T, g *testTarget) {
		g.newEnv(t).mustComplete(statement("SELECT 1")) // creates the table
		long := minExecutionID(time.Now().Add(-100 * 24 * time.Hour))
		old, late, fresh := long.String(), long.Derive([]byte("late")).String(), minExecutionID(time.Now()).String()
		g.query(t, "INSERT INTO rota_effects (execution_id, done_at, rows_affected, job) VALUES ('"+old+"', '2020-01-01 00:00:00', 0, 'old'), ('"+
			late+"', '"+time.Now().UTC().Format("2006-01-02 15:04:05")+"', 0, 'late'), ('"+fresh+"', '2020-01-01 00:00:00', 0, 'fresh')")
		w := g.newEnv(t)
		w.mustComplete(statement("SELECT 1"))
		rows := g.query(t, "SELECT job FROM rota_effects WHERE job <> 'sql' ORDER BY job")
		if !reflect.DeepEqual(rows, [][]string{{"fresh"}, {"late"}}) {
			t.Errorf("the effects %q remain", rows)
		}
		g.query(t, "INSERT INTO rota_effects (execution_id, done_at, rows_affected, job) VALUES ('"+old+"', '2020-01-01 00:00:00', 0, 'old')")
		w.mustComplete(statement("SELECT 1"))
		if n := g.queryValue(t, "SELECT count(*) FROM rota_effects WHERE job = 'old'"); n != "1" {
			t.Error("every run removes old effects")
		}
	})
}

func TestUnknownTargetAndInvalidParamsAreRefused(t *testing.T) {
	w := newTestEnv(t, func(reg *engine.Registry, _ rota.Store) { Register(reg, Config{Data: t.TempDir()}) })
	w.mustFail(statement("SELECT 1"), codeTarget, `no target "t"`, "there are main", "configuration")
	w.mustFail(job(SQL{Statement: strings.Repeat("é", StatementMax/2+1)}), codeParams, "262146 bytes")
	w.mustFail(rota.NewJob{Type: "sql", Params: json.RawMessage(`{"statement": ""}`)}, "payload", "statement")
	w.mustFail(rota.NewJob{Type: "sql", Params: json.RawMessage(`{"statement": "SELECT 1", "db": "x"}`)}, "payload", "db")
	w.mustFail(job(SQL{Statement: "SELECT 1", RunAs: "etl"}), codeRole, "SQLite file has no roles")
	if rows := result[Rows](w, w.mustComplete(job(SQL{Statement: "SELECT 1 AS n"}))); rows.Columns[0] != "n" {
		t.Errorf("%+v", rows)
	}
}

// TestServerReceivesStatementTimeout: the database stops a statement by itself if the
// process that sent it has died.
func TestServerReceivesStatementTimeout(t *testing.T) {
	for _, row := range []struct {
		newTarget func(*testing.T) *testTarget
		text      string
		low, high float64
	}{
		{newPostgresTarget, "SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout'", 20_000, 31_000},
		{newMariaTarget, "SELECT @@max_statement_time", 20, 31},
	} {
		g := row.newTarget(t)
		w := g.newEnv(t)
		bounded := statement("%s", row.text)
		bounded.Timeout = new(30 * time.Second)
		if n, is := result[Rows](w, w.mustComplete(bounded)).Rows[0][0].(float64); !is || n < row.low || n > row.high {
			t.Errorf("%s: the statement timeout is %v", g.name, n)
		}
	}
}
