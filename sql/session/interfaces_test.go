package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// declare creates a schedule as the HTTP API does.
func (b *fixture) declare(name string, spec rota.ScheduleSpec) {
	b.Helper()
	c, err := rota.Declare(rota.NewMeta("ada"), name, spec, b.clock.Now())
	if err != nil {
		b.Fatal(err)
	}
	do[*rota.SchedulePut](b, c)
}

func (b *fixture) template(name string, spec rota.TemplateSpec) {
	b.Helper()
	do[*rota.TemplatePut](b, &rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: name, Spec: spec})
}

// has checks that the result of a statement contains each of the texts.
func (b *fixture) has(statement string, wants ...string) {
	b.Helper()
	got := b.run(statement)
	for _, want := range wants {
		if !strings.Contains(got, want) {
			b.Errorf("%s\nhas no %q:\n%s", statement, want, got)
		}
	}
}

// TestJobsOfOtherInterfacesCanBeReadAndChanged also checks that CREATE JOB creates an ordinary template and
// schedule.
func TestJobsOfOtherInterfacesCanBeReadAndChanged(t *testing.T) {
	b := newFixture(t)
	b.template("mail", rota.TemplateSpec{Type: "report", Params: []byte(`{"to":"all"}`), Policy: rota.PolicyPatch{MaxRetries: new(9)}})
	b.declare("weekly", rota.ScheduleSpec{
		Template: "mail", Cron: "0 9 * * 1", Zone: "Europe/Berlin", Scopes: []rota.Scope{{Kind: "user", ID: "7"}, {Kind: "user", ID: "8"}},
	})
	b.has("SELECT job_name, job_type, procedure_name, max_retries, schedule_tz, template, params FROM sys.jobs",
		`weekly | PROCEDURE | report | 9 | Europe/Berlin | mail | {"to":"all"}`)
	b.has("SHOW CREATE JOB weekly", "-- the job uses template mail", "-- left out, since no clause sets it: scopes (2)", `WITH PARAMS '{"to":"all"}'`, "AS CALL report()", "TIME ZONE 'Europe/Berlin'")
	b.has("ALTER JOB weekly SET MAX_RETRIES = 2 SET DESCRIPTION = 'by SQL'", "ALTER JOB")
	s, err := b.store.Schedule(context.Background(), "weekly")
	if err != nil || *s.Spec.Policy.MaxRetries != 2 || s.Spec.Description != "by SQL" || len(s.Spec.Scopes) != 2 || s.Spec.Template != "mail" {
		t.Errorf("altered, it is %+v, %v", s, err)
	}
	mail, err := b.store.Template(context.Background(), "mail")
	if err != nil || *mail.Spec.Policy.MaxRetries != 9 {
		t.Errorf("the template is %+v, %v", mail, err)
	}
	b.has("EXECUTE JOB weekly", "EXECUTE JOB")
	if n := strings.Count(b.run("SELECT scope_id FROM sys.job_runs WHERE job_name = 'weekly'"), "\n"); n != 4 { // a head, two rows and a tag
		t.Errorf("it runs for %d scopes", n-2)
	}

	b.run("CREATE JOB own SCHEDULE = EVERY 90 SECONDS MAX_RETRIES = 1 RUN AS etl ON TARGET warehouse AS 'SELECT 1'")
	own, err := b.store.Template(context.Background(), "own")
	if err != nil || own.Spec.Type != "sql" || string(own.Spec.Params) != `{"statement":"SELECT 1","target":"warehouse","run_as":"etl"}` || own.CreatedBy != "admin" {
		t.Errorf("its template is %+v, %v", own, err)
	}
	s, err = b.store.Schedule(context.Background(), "own")
	if err != nil || s.Spec.Every != 90*time.Second || s.Spec.Template != "own" || *s.Spec.Policy.MaxRetries != 1 || s.CreatedBy != "admin" {
		t.Errorf("its schedule is %+v, %v", s, err)
	}
}

// TestAlterJobWithSharedTemplateIsAnError checks that ALTER JOB cannot change the action of another job.
func TestAlterJobWithSharedTemplateIsAnError(t *testing.T) {
	b := newFixture(t)
	b.template("shared", rota.TemplateSpec{Type: "sql", Params: []byte(`{"statement":"SELECT 1"}`)})
	for _, name := range []string{"one", "two"} {
		b.declare(name, rota.ScheduleSpec{Template: "shared", Every: time.Hour})
	}
	for _, statement := range []string{
		"ALTER JOB one SET AS 'SELECT 2'", "ALTER JOB one SET ON TARGET warehouse", "ALTER JOB one SET RUN AS etl",
		"CREATE OR ALTER JOB one SCHEDULE = EVERY 2 HOURS AS 'SELECT 2'",
	} {
		b.has(statement, "ERROR: ", "two", "(55000)")
	}
	b.has("ALTER JOB one SET SCHEDULE = EVERY 2 HOURS", "ALTER JOB")
	b.has("RECREATE JOB one SCHEDULE = EVERY 3 HOURS AS 'SELECT 3'", "RECREATE JOB")
	b.has("SELECT job_name, job_sql, template, interval_seconds FROM sys.jobs ORDER BY 1", "one | SELECT 3 | one | 10800", "two | SELECT 1 | shared | 3600")
	b.has("DROP JOB two", "DROP JOB")
	shared, err := b.store.Template(context.Background(), "shared")
	if err != nil || shared.State != rota.TemplateActive {
		t.Errorf("the template is %+v, %v", shared, err)
	}
}

// TestShowCreateJobRoundTrips runs the statement that SHOW CREATE JOB prints and compares the new job.
func TestShowCreateJobRoundTrips(t *testing.T) {
	b := newFixture(t)
	for _, body := range []string{
		"SCHEDULE = CRON '*/5 9-17 * * MON-FRI' TIME ZONE 'America/New_York' CATCH_UP = ALL OVERLAP = SKIP PRIORITY = 7 AS 'SELECT ''x'''",
		"SCHEDULE = EVERY 90 MINUTES STARTS '2026-03-02T00:00:00Z' ENDS '2026-04-01T00:00:00Z' MAX_RETRIES = 0 TIMEOUT = 2 HOURS AS CALL report()",
		`SCHEDULE = AT '2026-03-05 08:00' ON COMPLETION DROP DESCRIPTION = 'once' WITH PARAMS '{"a": [1, "b"]}' AS CALL noop()`,
		"SCHEDULE = EVERY 1 DAYS ON TARGET warehouse RUN AS etl CLASS = LEADER_ONLY PARTITION BY SHARD_SET ('6f9619ff-8b86-d011-b42d-00c04fc964ff') AS CALL sums.daily(1, 'two', NULL, true)",
		"SCHEDULE = EVERY 1 HOUR DISABLED AS EXEC 'backup'",
	} {
		b.has("CREATE JOB x "+body, "CREATE JOB\n")
		first := b.created("x")
		b.has("DROP JOB x", "DROP JOB")
		b.has(first, "CREATE JOB\n")
		if again := b.created("x"); again != first {
			t.Errorf("%s\nbecomes\n%s", first, again)
		}
		b.has("DROP JOB x", "DROP JOB")
	}
}

// created returns the statement of SHOW CREATE JOB.
func (b *fixture) created(name string) string {
	b.Helper()
	answers, err := b.session.Answers(context.Background(), "SHOW CREATE JOB "+name)
	if err != nil {
		b.Fatal(err)
	}
	text := answers[0].Rows[0][1].(string)
	if _, err := ddl.Parse(text); err != nil {
		b.Fatal(err)
	}
	return text
}

// TestCommitAfterConcurrentChangeIsASerializationError also checks that a statement outside of a
// transaction is planned again after a concurrent change.
func TestCommitAfterConcurrentChangeIsASerializationError(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB j SCHEDULE = EVERY 1 HOUR AS CALL noop()")
	other := b.console.Session(b.store, "ada")
	b.run("BEGIN; ")
	b.has("ALTER JOB j SET MAX_RETRIES = 1", "ALTER JOB")
	if _, err := other.Answers(context.Background(), "ALTER JOB j SET PRIORITY = 9"); err != nil {
		t.Fatal(err)
	}
	b.has("COMMIT", "(40001)")
	b.has("SELECT max_retries, priority FROM sys.jobs", "3 | 9")
	b.has("ALTER JOB j SET MAX_RETRIES = 1", "ALTER JOB")
	b.has("SELECT max_retries, priority FROM sys.jobs", "1 | 9")
}

// TestCommitComputesFirstFiresAtCommit keeps a transaction open for an hour.
func TestCommitComputesFirstFiresAtCommit(t *testing.T) {
	b := newFixture(t)
	b.run("BEGIN")
	b.has("CREATE JOB j SCHEDULE = EVERY 10 MINUTES AS CALL noop()", "CREATE JOB")
	b.has("CREATE JOB k SCHEDULE = CRON '30 12 * * *' AS CALL noop()", "CREATE JOB")
	b.clock.move(time.Hour)
	b.has("COMMIT", "COMMIT")
	b.has("SELECT job_name, next_run_time_ts FROM sys.jobs ORDER BY 1", "j | 2026-03-01T13:10:00.000000Z", "k | 2026-03-02T12:30:00.000000Z")
}
