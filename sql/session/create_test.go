package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// deletePlainly deletes a schedule and leaves its template, as DELETE /schedules/NAME does.
func (b *fixture) deletePlainly(name string) {
	b.Helper()
	do[*rota.ScheduleDeleted](b, &rota.DeleteSchedule{Meta: rota.NewMeta("ada"), Name: name})
}

func (b *fixture) templateSpec(name string) rota.TemplateSpec {
	b.Helper()
	t, err := b.store.Template(context.Background(), name)
	if err != nil {
		b.Fatal(err)
	}
	return t.Spec
}

// TestNameIsUsedAgainAfterAPlainDelete creates a job whose schedule was deleted and whose template was left.
func TestNameIsUsedAgainAfterAPlainDelete(t *testing.T) {
	b := newFixture(t)
	const create = "CREATE JOB ni SCHEDULE = EVERY 1 HOUR "
	for _, begin := range []string{"", "BEGIN; "} {
		end := ""
		if begin != "" {
			end = "; COMMIT"
		}
		b.has(begin+create+"AS CALL noop()"+end, "CREATE JOB")
		b.deletePlainly("ni")
		if got := b.run(begin + create + "AS CALL noop()" + end); strings.Contains(got, "ERROR") || strings.Contains(got, "NOTICE") {
			t.Errorf("the same action again: %s", got)
		}
		b.deletePlainly("ni")
		b.has(begin+create+"AS 'SELECT 1'"+end, "NOTICE: template ni, which no job used, is replaced by that of this job\n", "CREATE JOB")
		b.has("SELECT job_type, job_sql FROM sys.jobs WHERE job_name = 'ni'", "SQL | SELECT 1")
		b.has("DROP JOB ni", "DROP JOB")
	}
}

// TestCreateJobKeepsTemplatesOfOthers refuses a template that another job uses, and keeps what no clause sets.
func TestCreateJobKeepsTemplatesOfOthers(t *testing.T) {
	b := newFixture(t)
	hour := time.Hour
	b.template("n", rota.TemplateSpec{
		Type: "noop", ConcurrencyKey: "k", Policy: rota.PolicyPatch{MaxRetries: new(7), BackoffMax: &hour},
	})
	b.declare("other", rota.ScheduleSpec{Template: "n", Every: time.Hour})
	for _, action := range []string{"'SELECT 1'", "CALL noop()"} {
		for _, begin := range []string{"", "BEGIN; "} {
			b.has(begin+"CREATE JOB n SCHEDULE = EVERY 1 HOUR AS "+action, "ERROR", "template n already exists, and job other uses it", "choose another name", "(42710)")
			b.run("ROLLBACK")
		}
	}
	b.deletePlainly("other")
	b.has("CREATE JOB n SCHEDULE = EVERY 1 HOUR AS 'SELECT 1'", "NOTICE: template n, which no job used, is replaced by that of this job, except its settings that no clause can express\n", "CREATE JOB")
	if got := b.templateSpec("n"); got.Type != "sql" || got.ConcurrencyKey != "k" || got.Policy.MaxRetries != nil || got.Policy.BackoffMax == nil {
		t.Errorf("%+v", got)
	}
	b.has("CREATE OR ALTER JOB n SCHEDULE = EVERY 1 HOUR AS 'SELECT 2'", "CREATE")
	if got := b.templateSpec("n"); got.ConcurrencyKey != "k" || got.Policy.BackoffMax == nil {
		t.Errorf("CREATE OR ALTER JOB drops what no clause sets: %+v", got)
	}
}

// TestCreateOrAlterNeverDropsRunAs requires words for the removal of a role.
func TestCreateOrAlterNeverDropsRunAs(t *testing.T) {
	b := newFixture(t)
	const query = "SELECT job_type, run_as_role FROM sys.jobs"
	const alter = "CREATE OR ALTER JOB n SCHEDULE = EVERY 1 HOUR "
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR ON TARGET warehouse RUN AS etl AS 'SELECT 1'")
	for _, action := range []string{"AS CALL noop()", "AS EXEC '/bin/true'", "AS 'SELECT 2'", "ON TARGET warehouse AS CALL refresh()"} {
		b.has(alter+action, "ERROR", "the job runs as etl", "RUN AS NONE", "(0A000)")
		b.has(query, "SQL | etl")
	}
	b.has(alter+"RUN AS etl AS 'SELECT 2'", "CREATE")
	b.has(query, "SQL | etl")
	b.has(alter+"RUN AS NONE AS CALL noop()", "CREATE")
	b.has(query, "PROCEDURE |")
	b.has("CREATE OR ALTER JOB n SCHEDULE = EVERY 1 HOUR RUN AS etl AS 'SELECT 1'", "CREATE")
	b.has("RECREATE JOB n SCHEDULE = EVERY 1 HOUR AS CALL noop()", "NOTICE: the job no longer runs as etl", "RECREATE JOB")
}
