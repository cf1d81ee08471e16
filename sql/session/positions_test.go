package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/session"
)

// TestErrorsHavePositions marks with ^ where the position of each error is.
func TestErrorsHavePositions(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB a SCHEDULE = EVERY 1 HOUR AS CALL noop()")
	for _, marked := range []string{
		"CREATE JOB b SCHEDULE = CRON ^'61 * * * *' AS CALL noop()",
		"CREATE JOB b SCHEDULE CRON ^'@never' AS CALL noop()",
		"ALTER JOB a SET SCHEDULE = CRON ^'x'",
		"CREATE JOB b SCHEDULE = CRON '0 3 * * *' TIME ZONE ^'Mars/Olympus' AS CALL noop()",
		"ALTER JOB a SET TIME ZONE ^'europe/berln'",
		"CREATE JOB b SCHEDULE = AT ^'2020-01-01' AS CALL noop()",
		"CREATE JOB b TIME ZONE 'Europe/Berlin' SCHEDULE = AT ^'2026-03-29 02:30' AS CALL noop()",
		"CREATE JOB b SCHEDULE = EVERY 1 HOUR STARTS '2026-04-01' ENDS ^'2020-01-01' AS CALL noop()",
		"ALTER JOB ^nobody SET MAX_RETRIES = 1",
		"DROP JOB ^\"no body\"",
		"EXECUTE JOB /* é */ ^nobody",
		"SHOW CREATE JOB ^nobody",
		"CREATE JOB ^a SCHEDULE = EVERY 1 HOUR AS CALL noop()",
		"CREATE JOB b SCHEDULE = EVERY 1 HOUR DEPENDS ON a, ^nobody AS CALL noop()",
		"CREATE JOB b SCHEDULE = EVERY 1 HOUR DEPENDS ON ^b AS CALL noop()",
		"CREATE JOB b SCHEDULE = EVERY 1 HOUR AS CALL ^nobody()",
		"CREATE JOB b SCHEDULE = EVERY 1 HOUR ON TARGET ^mars AS 'SELECT 1'",
		"CREATE JOB b SCHEDULE = EVERY 1 HOUR PRIORITY = ^2000000000 AS CALL noop()",
		"CANCEL JOB RUN ^018f0000-0000-7000-8000-000000000000",
		"EXPLAIN JOB RUN ^'018f0000-0000-7000-8000-000000000000'",
		"SHOW JOBS; -- é\n DROP JOB ^nobody; SHOW JOBS",
	} {
		text := strings.Replace(marked, "^", "", 1)
		want := len([]rune(marked[:strings.Index(marked, "^")])) + 1
		_, err := b.session.Answers(context.Background(), text)
		var e *session.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if e.Position != want {
			t.Errorf("%s\nposition %d, want %d: %v", text, e.Position, want, err)
		}
		prepared, err := b.session.Prepare(context.Background(), text, nil)
		if err != nil {
			continue // several statements
		}
		if _, err := b.session.Execute(context.Background(), prepared, nil); !errors.As(err, &e) || e.Position != want {
			t.Errorf("%s, prepared: %v", text, err)
		}
	}
}

// TestPastTimesNameJobTimeReasonAndRemedy reads the errors about times in the past.
func TestPastTimesNameJobTimeReasonAndRemedy(t *testing.T) {
	b := newFixture(t)
	b.has("CREATE JOB f1 SCHEDULE = AT '2020-01-01' AS CALL noop()",
		"SCHEDULE AT: job f1 cannot run at 2020-01-01T00:00:00Z, which has passed; it is 2026-03-01T12:00:00Z now; give a later time (22023)")
	b.has("CREATE JOB f1 SCHEDULE = EVERY 1 HOUR ENDS '2020-01-01' AS CALL noop()",
		"ENDS: job f1 would never run: it ends at 2020-01-01T00:00:00Z, which has passed; it is 2026-03-01T12:00:00Z now; give a later time (22023)")
}

// TestCancelOfAnUnknownRunSpeaksOfARun also explains one.
func TestCancelOfAnUnknownRunSpeaksOfARun(t *testing.T) {
	b := newFixture(t)
	const id = "018f0000-0000-7000-8000-000000000000"
	b.has("CANCEL JOB RUN "+id, "run "+id+" does not exist", "(42704)")
	b.has("EXPLAIN JOB RUN "+id, "run "+id+" does not exist", "(42704)")
	b.has("BEGIN; CANCEL JOB RUN "+id, "run "+id+" does not exist", "(42704)")
}

// TestRunAsIsNeverDroppedSilently changes the action of a job with a role and a target, and back.
func TestRunAsIsNeverDroppedSilently(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR ON TARGET warehouse RUN AS etl AS 'SELECT 1'")
	const query = "SELECT job_type, run_as_role, target FROM sys.jobs"
	for _, action := range []string{"CALL noop()", "EXEC '/bin/true'"} {
		b.has("ALTER JOB n SET AS "+action, "ERROR", "the job runs as etl", "SET RUN AS NONE", "(0A000)")
		b.has(query, "SQL | etl | warehouse")
	}
	b.has("ALTER JOB n SET AS CALL refresh() SET ON TARGET warehouse", "ALTER JOB")
	b.has(query, "PROCEDURE | etl | warehouse")
	b.has("ALTER JOB n SET AS 'SELECT 2'", "ALTER JOB")
	b.has(query, "SQL | etl | warehouse")
	b.has("ALTER JOB n SET AS CALL noop() SET RUN AS NONE", "NOTICE: the job no longer has target warehouse", "ALTER JOB")
	b.has("ALTER JOB n SET AS 'SELECT 3'", "ALTER JOB")
	b.has(query, "SQL |  |")
}

// TestClausesThatAreNotHonouredGiveANotice covers CLASS, PARTITION BY and EXEC in each statement that takes them.
func TestClausesThatAreNotHonouredGiveANotice(t *testing.T) {
	b := newFixture(t)
	const shard = "'6f9619ff-8b86-d011-b42d-00c04fc964ff'"
	for clause, want := range map[string]string{
		"CLASS = LEADER_ONLY":                "NOTICE: CLASS = LEADER_ONLY is stored, but this server does not honour it yet",
		"CLASS = QUORUM_REQUIRED":            "NOTICE: CLASS = QUORUM_REQUIRED is stored, but this server does not honour it yet",
		"CLASS = LOCAL_SAFE":                 "",
		"PARTITION BY ALL_SHARDS":            "NOTICE: PARTITION BY ALL_SHARDS is stored, but this server does not honour it yet",
		"PARTITION BY SINGLE_SHARD " + shard: "NOTICE: PARTITION BY SINGLE_SHARD is stored, but this server does not honour it yet",
		"PARTITION BY DYNAMIC tenant % 4":    "NOTICE: PARTITION BY DYNAMIC is stored, but this server does not honour it yet",
		"AS EXEC '/bin/true'":                "NOTICE: EXEC is stored, but this server does not run programs",
	} {
		action := " AS CALL noop()"
		if strings.HasPrefix(clause, "AS") {
			action = ""
		}
		for _, statement := range []string{
			"RECREATE JOB n SCHEDULE = EVERY 1 HOUR " + clause + action,
			"CREATE OR ALTER JOB n SCHEDULE = EVERY 1 HOUR " + clause + action,
			"ALTER JOB n SET " + clause,
			"DROP JOB n; CREATE JOB n SCHEDULE = EVERY 1 HOUR " + clause + action,
		} {
			switch got := b.run(statement); {
			case strings.Contains(got, "ERROR"), want == "" && strings.Contains(got, "NOTICE"), !strings.Contains(got, want):
				t.Errorf("%s: %s", statement, got)
			}
		}
	}
}
