package access_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
)

// wantParamsRefused fails if a user can change what a queued or an ended job runs.
func (s *site) wantParamsRefused(what, user string, queued, ended rota.ID) {
	s.t.Helper()
	s.wantVerdict(what+": an edit", user, &rota.Edit{Meta: rota.NewMeta(""), JobID: queued, MergeParams: []byte(dropTable)}, rota.Denied)
	s.wantVerdict(what+": a run again", user, &rota.Redrive{Meta: rota.NewMeta(""), JobID: ended, Params: []byte(dropTable)}, rota.Denied)
}

// TestNewOwnerCannotChangeJobsOfTheFormerOne gives a job of the admin to a user. Its earlier executions run with the rights of
// the admin.
func TestNewOwnerCannotChangeJobsOfTheFormerOne(t *testing.T) {
	s, ctx := newMatrix(t), context.Background()
	s.define("given", rota.AdminUser)
	queued, ended := s.trigger("given").ID, s.ended("given")
	s.must(&rota.SetOwner{Meta: rota.NewMeta("admin"), Name: "given", Owner: "owner"})
	s.wantParamsRefused("a job that was given away", "owner", queued, ended)
	if _, err := s.as("owner").Job(ctx, ended); err != nil {
		t.Errorf("the new owner does not see the history: %v", err)
	}
	s.wantVerdict("a run again as it was", "owner", &rota.Redrive{Meta: rota.NewMeta(""), JobID: ended}, "")
}

// TestTemplateThatTakesTheNameOfADroppedOne lets a user take over the name of a template whose jobs it has scheduled.
func TestTemplateThatTakesTheNameOfADroppedOne(t *testing.T) {
	s, ctx := newScheduler(t), context.Background()
	s.wantVerdict("a schedule of the template", "executor", schedule("own", "job", `{}`), "")
	queued, ended := s.trigger("own").ID, s.ended("own")
	enqueue := &rota.Enqueue{Meta: rota.NewMeta("owner"), Jobs: []rota.NewJob{{Template: "job"}}}
	ofTemplate := s.must(enqueue).(*rota.Enqueued).Jobs[0].Job.ID
	s.must(&rota.Cancel{Meta: rota.NewMeta("admin"), JobID: ofTemplate})
	s.wantVerdict("another template", "executor", schedule("own", "mine", `{}`), "")
	s.wantVerdict("the drop", "owner", &rota.Drop{Meta: rota.NewMeta(""), Name: "job"}, "")
	create := template("job", `{}`)
	create.Mode = rota.PutCreate
	s.wantVerdict("a template of the name", "executor", create, "")
	if j, err := s.as("executor").Job(ctx, ended); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("the run of the dropped template is visible: %+v, %v", j, err)
	}
	s.wantParamsRefused("a job of the dropped template", "executor", queued, ended)
	s.wantVerdict("a run again", "executor", &rota.Redrive{Meta: rota.NewMeta(""), JobID: ended, Again: true}, rota.Denied)
	again := s.must(&rota.Redrive{Meta: rota.NewMeta("admin"), JobID: ofTemplate}).(*rota.Redriven).Job.ID
	if j, err := s.as("executor").Job(ctx, again); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("the run again by the admin is visible: %+v, %v", j, err)
	}
}

// TestFormerOwnerGetsNoSecretsOfTheNewOne: jobs of the former owner run for it, so it may change their params still. They get
// none of the secrets that the new owner sets, edited, redriven or left as they are.
func TestFormerOwnerGetsNoSecretsOfTheNewOne(t *testing.T) {
	s, ctx := newMatrix(t), context.Background()
	vault := s.vault()
	s.setSecret(vault, "job", "TOKEN", "of the former owner")
	queued, ended := s.trigger("job"), s.ended("job")
	if value, err := vault.Secret(ctx, queued, "TOKEN"); err != nil || value != "of the former owner" {
		t.Fatalf("%q, %v", value, err)
	}
	s.must(&rota.SetOwner{Meta: rota.NewMeta("admin"), Kind: rota.ExpectTemplate, Name: "job", Owner: "executor"}) // the schedule stays
	s.setSecret(vault, "job", "TOKEN", "of the new owner")
	s.wantVerdict("an edit", "owner", &rota.Edit{Meta: rota.NewMeta(""), JobID: queued.ID, MergeParams: []byte(dropTable)}, "")
	redrive := &rota.Redrive{Meta: rota.NewMeta(""), JobID: ended, Params: []byte(dropTable)}
	s.wantVerdict("a redrive", "owner", redrive, "")
	for what, id := range map[string]rota.ID{"an edited job": queued.ID, "a redriven job": redrive.NewJobID()} {
		job, err := s.store.Job(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if value, err := vault.Secret(ctx, job, "TOKEN"); rota.CodeOf(err) != rota.Denied || value != "" {
			t.Errorf("%s gets %q, %v", what, value, err)
		}
		if values, err := vault.Secrets(ctx, job); rota.CodeOf(err) != rota.Denied || len(values) != 0 {
			t.Errorf("%s gets %v, %v", what, values, err)
		}
	}
	ofNew := s.must(&rota.Enqueue{Meta: rota.NewMeta("executor"), Jobs: []rota.NewJob{{Template: "job"}}}).(*rota.Enqueued).Jobs[0].Job
	if value, err := vault.Secret(ctx, ofNew, "TOKEN"); err != nil || value != "of the new owner" {
		t.Errorf("a job of the new owner gets %q, %v", value, err)
	}
}

// vault opens the secrets of the store.
func (s *site) vault() *secret.Vault {
	s.t.Helper()
	ring, err := secret.Load(s.t.TempDir(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	return &secret.Vault{Keyring: ring, Store: s.store}
}

func (s *site) setSecret(vault *secret.Vault, template, key, value string) {
	s.t.Helper()
	sealed, err := vault.SealFor(context.Background(), template, key, []byte(value))
	if err != nil {
		s.t.Fatal(err)
	}
	s.must(&rota.PutSecret{Meta: rota.NewMeta("admin"), Template: template, Key: key, Sealed: sealed})
}

// TestNewUserSeesNoRunsOfAFormerOneOfItsName gives the new user the right to see the schedule.
func TestNewUserSeesNoRunsOfAFormerOneOfItsName(t *testing.T) {
	s := newMatrix(t)
	s.users("bob")
	own := template("of-bob", `{"statement":"SELECT 1"}`)
	own.Actor = "bob"
	s.must(own)
	s.must(schedule("of-admin", "of-bob", `{}`))
	id := s.ended("of-admin")
	s.must(&rota.SetOwner{Meta: rota.NewMeta("admin"), Kind: rota.ExpectTemplate, Name: "of-bob", Owner: rota.AdminUser})
	s.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Kind: rota.KindUser, Name: "bob"})
	s.users("bob")
	s.grant("bob", rota.ViewJobHistory, "of-admin")
	if j, err := s.as("bob").Job(context.Background(), id); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("the run of the former user is visible: %+v, %v", j, err)
	}
}

// TestRunsAgainOnlyWithTheRightsOfThen drops a template after EXECUTE JOB on it was revoked.
func TestRunsAgainOnlyWithTheRightsOfThen(t *testing.T) {
	s := newScheduler(t)
	s.wantVerdict("a schedule of the template", "executor", schedule("own", "job", `{}`), "")
	ended := s.ended("own")
	s.revoke("executor", rota.ExecuteJob, "job")
	again := func() rota.Command { return &rota.Redrive{Meta: rota.NewMeta(""), JobID: ended} }
	s.wantVerdict("a retry without the right", "executor", again(), rota.Denied)
	s.wantVerdict("another template", "executor", schedule("own", "mine", `{}`), "")
	s.wantVerdict("the drop", "owner", &rota.Drop{Meta: rota.NewMeta(""), Name: "job"}, "")
	s.wantVerdict("a retry after the drop", "executor", again(), rota.Denied)
}

// TestRecreatedTemplateHidesEarlierRuns recreates a template whose runs the owner of a schedule may not see.
func TestRecreatedTemplateHidesEarlierRuns(t *testing.T) {
	s := newScheduler(t)
	s.wantVerdict("a schedule of the template", "executor", schedule("own", "job", `{}`), "")
	id := s.trigger("own").ID
	recreate := template("job", `{"statement":"SELECT 3"}`)
	recreate.Recreate = true
	s.wantVerdict("a recreation", "admin", recreate, "")
	if j, err := s.as("executor").Job(context.Background(), id); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("the run of the former template is visible: %+v, %v", j, err)
	}
}

// TestAuditHidesParamsOfHiddenJobs edits jobs that the owner of their schedule may not see.
func TestAuditHidesParamsOfHiddenJobs(t *testing.T) {
	s := newScheduler(t)
	s.wantVerdict("a schedule of the template", "executor", schedule("own", "job", `{}`), "")
	ofOther, ofEarlier := s.trigger("own").ID, s.trigger("job").ID
	s.must(&rota.DeleteSchedule{Meta: rota.NewMeta("admin"), Name: "job"})
	s.grant("executor", rota.AlterJob, "job") // or the name would be taken
	s.wantVerdict("a schedule of an earlier name", "executor", schedule("job", "mine", `{}`), "")
	for _, id := range []rota.ID{ofOther, ofEarlier} {
		s.must(&rota.Edit{Meta: rota.NewMeta("owner"), JobID: id, MergeParams: []byte(`{"key":"a value that others must not see"}`)})
		if _, err := s.as("executor").Job(context.Background(), id); rota.CodeOf(err) != rota.NotFound {
			t.Errorf("job %s is visible: %v", id, err)
		}
	}
	page, err := s.as("executor").Audit(context.Background(), rota.AuditQuery{})
	if err != nil || len(page.Entries) == 0 {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	for _, e := range page.Entries {
		if strings.Contains(string(e.Changes), "must not see") {
			t.Errorf("%s of %s shows %s", e.Act, e.Subject, e.Changes)
		}
	}
}

// TestNameOfAnotherUserIsTaken creates a schedule with the name of the template of another user, who could then neither grant
// nor revoke privileges on it.
func TestNameOfAnotherUserIsTaken(t *testing.T) {
	s := newMatrix(t)
	report := template("report", `{"statement":"SELECT 1"}`)
	report.Actor = "owner"
	s.must(report)
	s.wantVerdict("a template", "creator", template("mine", `{}`), "")
	s.wantVerdict("a schedule of a name that is taken", "creator", schedule("report", "mine", `{}`), rota.Denied)
	s.wantVerdict("a schedule", "creator", schedule("free", "mine", `{}`), "")
	s.wantVerdict("a template of a name that is taken", "owner", template("free", `{}`), rota.Denied)
	s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"}) // leaves the template of nobody
	s.wantVerdict("a schedule of a dropped name", "creator", schedule("job", "mine", `{}`), "")
	grant := func(job string) rota.Command {
		return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"nobody"}, Privileges: []rota.Privilege{rota.ViewJobHistory}, Job: job}
	}
	s.wantVerdict("a grant by the owner of the schedule", "creator", grant("job"), "")
	s.wantVerdict("a grant by the owner of the template", "owner", grant("report"), "")
}

// TestNegativeLimits sends queries that the store refuses.
func TestNegativeLimits(t *testing.T) {
	ctx, g := context.Background(), newMatrix(t).as("executor")
	_, jobs := g.Jobs(ctx, rota.JobQuery{Limit: -1})
	_, queue := g.Queue(ctx, rota.ID{}, -1)
	_, templates := g.Templates(ctx, rota.NameQuery{Limit: -1})
	for _, err := range []error{jobs, queue, templates} {
		if rota.CodeOf(err) != rota.Invalid {
			t.Errorf("a negative limit: %v", err)
		}
	}
}
