package access_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// template returns a command that puts a template of type sql.
func template(name, params string) *rota.PutTemplate {
	return &rota.PutTemplate{Meta: rota.NewMeta(""), Name: name, Spec: rota.TemplateSpec{Type: "sql", Params: []byte(params)}}
}

// schedule returns a command that puts a paused schedule of a template.
func schedule(name, of, params string) *rota.PutSchedule {
	return &rota.PutSchedule{
		Meta: rota.NewMeta(""), Name: name, State: rota.SchedulePaused, Next: began.AddDate(1, 0, 0),
		Spec: rota.ScheduleSpec{Template: of, Every: time.Hour, Params: []byte(params)},
	}
}

// wantVerdict sends a command and compares the code of its error.
func (s *site) wantVerdict(what, user string, c rota.Command, want rota.Code) {
	s.t.Helper()
	if got := verdict(s.as(user), c); got != want {
		s.t.Errorf("%s as %s: %q, want %q", what, user, got, want)
	}
}

// ended triggers a schedule and cancels the job.
func (s *site) ended(schedule string) rota.ID {
	s.t.Helper()
	id := s.trigger(schedule).ID
	s.must(&rota.Cancel{Meta: rota.NewMeta("admin"), JobID: id})
	return id
}

// TestOwnerOfScheduleCannotChangeWhatTheTemplateRuns schedules the template of another user, with whose rights the jobs run.
func TestOwnerOfScheduleCannotChangeWhatTheTemplateRuns(t *testing.T) {
	s := newMatrix(t)
	s.grant("executor", rota.CreateJob, "")
	s.wantVerdict("a schedule of the template", "executor", schedule("own", "job", `{"region":"eu"}`), "")
	queued, ended := s.trigger("own"), s.ended("own")
	if queued.Owner != "owner" {
		t.Errorf("the job runs with the rights of %s", queued.Owner)
	}
	for params, want := range map[string]rota.Code{`{"region":"us"}`: "", `{"Statement":"DROP TABLE x"}`: rota.Denied} {
		s.wantVerdict("a schedule with "+params, "executor", schedule("own", "job", params), want)
		s.wantVerdict("a trigger with "+params, "executor", &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "own", Params: []byte(params)}, want)
		s.wantVerdict("an edit with "+params, "executor", &rota.Edit{Meta: rota.NewMeta(""), JobID: queued.ID, MergeParams: []byte(params)}, want)
		s.wantVerdict("a retry with "+params, "executor", &rota.Redrive{Meta: rota.NewMeta(""), JobID: ended, Params: []byte(params)}, want)
	}
	s.wantVerdict("an edit without the statement", "executor", &rota.Edit{Meta: rota.NewMeta(""), JobID: queued.ID, Params: []byte(`{}`)}, rota.Denied)
	if _, err := s.as("executor").Job(context.Background(), queued.ID); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("a user that may only execute a template sees its runs through a schedule of its own: %v", err)
	}
	s.grant("executor", rota.ViewJobHistory, "job")
	if _, err := s.as("executor").Job(context.Background(), queued.ID); err != nil {
		t.Error(err)
	}
}

// TestAltererOfScheduleRunsNothingForItsOwner points the schedule of another user at a template of its own.
func TestAltererOfScheduleRunsNothingForItsOwner(t *testing.T) {
	s := newMatrix(t)
	s.define("fin", rota.AdminUser)
	s.grant("creator", rota.AlterJob, "fin")
	s.wantVerdict("a template", "creator", template("own", `{"statement":"SELECT 666"}`), "")
	s.wantVerdict("another template of the schedule", "creator", schedule("fin", "own", `{}`), "")
	s.revoke("creator", rota.AlterJob, "fin")
	if j := s.trigger("fin"); j.RunsFor() != "creator" {
		t.Errorf("the template of creator runs with the rights of %s", j.RunsFor())
	}
}

// TestTemplateOfAnotherOwnerSurvivesDrop creates and drops a schedule with the name of a template of another user.
func TestTemplateOfAnotherOwnerSurvivesDrop(t *testing.T) {
	s := newMatrix(t)
	put := template("report", `{"statement":"SELECT 1"}`)
	put.Actor = "owner"
	s.must(put)
	s.grant("creator", rota.ExecuteJob, "report")
	s.grant("creator", rota.AlterJob, "report") // or the name would be taken
	s.wantVerdict("a schedule", "creator", schedule("report", "report", `{}`), "")
	s.wantVerdict("a drop", "creator", &rota.Drop{Meta: rota.NewMeta(""), Name: "report"}, "")
	if kept, err := s.store.Template(context.Background(), "report"); err != nil || kept.Owner != "owner" || kept.State != rota.TemplateActive {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestDroppedTemplateIsShownToNobody creates a definition with the name of a dropped one.
func TestDroppedTemplateIsShownToNobody(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	s.must(template("job", `{"statement":"SELECT secret"}`))
	s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"})
	s.wantVerdict("unarchive", "creator", &rota.Unarchive{Meta: rota.NewMeta(""), Name: "job"}, rota.NotFound)
	s.wantVerdict("unarchive", "alter-all", &rota.Unarchive{Meta: rota.NewMeta(""), Name: "job"}, rota.Denied)
	s.wantVerdict("trigger", "creator", &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}}, rota.NotFound)
	create := template("job", `{"statement":"SELECT 2"}`)
	create.Mode = rota.PutCreate
	put, err := rota.Do[*rota.TemplatePut](ctx, s.as("creator"), create)
	if err != nil || put.Template.Owner != "creator" || put.Template.State != rota.TemplateActive {
		t.Fatal(put, err)
	}
	page, err := s.as("creator").Audit(ctx, rota.AuditQuery{})
	if err != nil || len(page.Entries) == 0 {
		t.Fatal(page, err)
	}
	for _, e := range page.Entries {
		if strings.Contains(string(e.Changes), "secret") {
			t.Errorf("the entry %s shows the dropped definition: %s", e.Act, e.Changes)
		}
	}
	s.must(&rota.PutTemplate{Meta: rota.NewMeta("owner"), Name: "other", Spec: rota.TemplateSpec{Type: "sql"}})
	s.grant("creator", rota.AlterJob, "other")
	recreate := template("other", `{}`)
	recreate.Recreate = true
	s.wantVerdict("recreate without DROP JOB", "creator", recreate, rota.Denied)
}

// TestWebhooksOfTemplateNeedAdmin changes the webhooks of a template, and alters the template without seeing them.
func TestWebhooksOfTemplateNeedAdmin(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	hooked := func(urls ...string) *rota.PutTemplate {
		c := template("job", `{"statement":"SELECT 2"}`)
		for _, url := range urls {
			c.Spec.Webhooks = append(c.Spec.Webhooks, rota.Webhook{URL: url, Secret: "a text that nobody guesses"})
		}
		return c
	}
	const a, b = "https://a.example/", "https://b.example/"
	for _, user := range []string{"alterer", "owner", "alter-all"} {
		s.wantVerdict("a webhook", user, hooked(a), rota.Denied)
	}
	s.wantVerdict("a webhook", "admin-user", hooked(a), "")
	s.must(hooked(a, b))
	created := template("new", `{}`)
	created.Spec.Webhooks = hooked(a).Spec.Webhooks
	s.wantVerdict("a new template with a webhook", "creator", created, rota.Denied)
	for user, want := range map[string]int{"alterer": 0, "alter-all": 0, "owner": 2, "admin-user": 2, "admin": 2} {
		one, err := s.as(user).Template(ctx, "job")
		if err != nil || len(one.Spec.Webhooks) != want {
			t.Errorf("%s sees %v, %v", user, one, err)
		}
		all, err := s.as(user).Templates(ctx, rota.NameQuery{})
		if err != nil || len(all) == 0 || len(all[0].Spec.Webhooks) != want {
			t.Errorf("%s lists %v, %v", user, all, err)
		}
	}
	alterer := s.as("alterer")
	if _, err := alterer.Template(ctx, "job"); err != nil { // as a request does that changes a part of it
		t.Fatal(err)
	}
	put, err := rota.Do[*rota.TemplatePut](ctx, alterer, template("job", `{"statement":"SELECT 3"}`))
	if err != nil || len(put.Template.Spec.Webhooks) != 0 {
		t.Errorf("the reply to alterer is %v, %v", put, err)
	}
	stored := func() int {
		one, err := s.store.Template(ctx, "job")
		if err != nil {
			t.Fatal(err)
		}
		return len(one.Spec.Webhooks)
	}
	if n := stored(); n != 2 {
		t.Errorf("a change by a user that does not see the webhooks leaves %d", n)
	}
	s.wantVerdict("fewer webhooks", "owner", hooked(b), "")
	if n := stored(); n != 1 {
		t.Errorf("%d webhooks are left", n)
	}
	page, err := s.as("view-all").Audit(ctx, rota.AuditQuery{Subject: "template job"})
	if err != nil || len(page.Entries) == 0 {
		t.Fatal(page, err)
	}
	for _, e := range page.Entries {
		if strings.Contains(string(e.Changes), "example/") {
			t.Errorf("the audit shows an address: %s", e.Changes)
		}
	}
}

// TestRunAsOfMergedParamsNeedsMembership changes what runs as a role that the template or the schedule names.
func TestRunAsOfMergedParamsNeedsMembership(t *testing.T) {
	s := newMatrix(t)
	s.role("payroll", "by-role")
	for _, user := range []string{"alterer", "by-role"} {
		s.grant(user, rota.ExecuteJob, "job")
	}
	s.must(template("job", `{"statement":"SELECT 1","run_as":"payroll"}`))
	put := schedule("late", "plain", `{"run_as":"payroll"}`)
	s.must(template("plain", `{"statement":"SELECT 1"}`))
	s.must(put)
	s.grant("alterer", rota.AlterJob, "plain")
	s.grant("by-role", rota.AlterJob, "plain")
	other := []byte(`{"statement":"SELECT 666"}`)
	for _, user := range []string{"alterer", "by-role"} { // the member last: it changes the template
		want := rota.Denied
		if user == "by-role" {
			want = ""
		}
		s.wantVerdict("trigger", user, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job", Params: other}, want)
		s.wantVerdict("enqueue", user, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job", Params: other}}}, want)
		s.wantVerdict("edit", user, &rota.Edit{Meta: rota.NewMeta(""), JobID: s.trigger("job").ID, MergeParams: other}, want)
		s.wantVerdict("retry", user, &rota.Redrive{Meta: rota.NewMeta(""), JobID: s.ended("job"), Params: other}, want)
		s.wantVerdict("the template of a schedule that runs as the role", user, template("plain", string(other)), want)
		s.wantVerdict("trigger without params", user, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"}, "")
	}
	s.must(template("job", `{"statement":"SELECT 1"}`))
	for user, want := range map[string]rota.Code{"alterer": rota.Denied, "by-role": ""} {
		as := []byte(`{"run_as":"payroll"}`)
		s.wantVerdict("a retry as the role", user, &rota.Redrive{Meta: rota.NewMeta(""), JobID: s.ended("job"), Params: as}, want)
		s.wantVerdict("an edit as the role", user, &rota.Edit{Meta: rota.NewMeta(""), JobID: s.trigger("job").ID, MergeParams: as}, want)
	}
}

// TestCallNeedsTheRightsOfTheTypeItNames reaches other built-in types through a call.
func TestCallNeedsTheRightsOfTheTypeItNames(t *testing.T) {
	s := newMatrix(t)
	s.role("etl")
	for params, want := range map[string]rota.Code{
		`{"procedure":"exec","args":[{"command":"id"}]}`:                              rota.Denied,
		`{"procedure":"call","args":[{"procedure":"exec"}]}`:                          rota.Denied,
		`{"procedure":"sql","args":[{"statement":"SELECT 1","run_as":"etl"}]}`:        rota.Denied,
		`{"procedure":"greet","args":[{"name":"ada"}]}`:                               "",
		`{"procedure":"exec","target":"main"}`:                                        "",
		`{"procedure":"sql","args":[{"statement":"SELECT 1","run_as":"creator"}]}`:    "",
		`{"Procedure":"exec","args":[{"command":"id"}],"comment":"another spelling"}`: rota.Denied,
	} {
		s.wantVerdict("an ad-hoc call "+params, "creator", &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "call", Params: []byte(params)}}}, want)
		put := template("calls", params)
		put.Spec.Type = "call"
		s.wantVerdict("a template "+params, "creator", put, want)
	}
}

// TestExecutorCannotChangeRequest overrides params of an HTTP job.
func TestExecutorCannotChangeRequest(t *testing.T) {
	s := newMatrix(t)
	put := template("job", `{"url":"https://a.example/"}`)
	put.Spec.Type = "http"
	s.must(put)
	for _, name := range []string{"url", "headers", "method", "body", "expect", "Body"} {
		s.wantVerdict(name, "executor", &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job", Params: []byte(`{"` + name + `":"x"}`)}, rota.Denied)
	}
}

// TestUniqueKeyOfOthersShowsNothing requests jobs with the unique key of a job of another user.
func TestUniqueKeyOfOthersShowsNothing(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	enqueue := func(keys ...string) *rota.Enqueue {
		c := &rota.Enqueue{Meta: rota.NewMeta("")}
		for _, key := range keys {
			c.Jobs = append(c.Jobs, rota.NewJob{Type: "noop", UniqueKey: key})
		}
		return c
	}
	taken := s.must(enqueue("inv-3")).(*rota.Enqueued).Jobs[0].Job
	_, err := rota.Do[*rota.Enqueued](ctx, s.as("creator"), enqueue("inv-3"))
	if rota.CodeOf(err) != rota.Conflict || !strings.Contains(err.Error(), "taken by a job of another user") || strings.Contains(err.Error(), taken.ID.String()) {
		t.Errorf("%v", err)
	}
	two, err := rota.Do[*rota.Enqueued](ctx, s.as("creator"), enqueue("inv-3", "own"))
	if err != nil || two.Jobs[0].Job != nil || !two.Jobs[0].Duplicate || two.Jobs[1].Job == nil || two.Jobs[1].Duplicate {
		t.Errorf("%+v, %v", two, err)
	}
	own, err := rota.Do[*rota.Enqueued](ctx, s.as("creator"), enqueue("own"))
	if err != nil || !own.Jobs[0].Duplicate || own.Jobs[0].Job.ID != two.Jobs[1].Job.ID {
		t.Errorf("%+v, %v", own, err)
	}
	shown, err := rota.Do[*rota.Enqueued](ctx, s.as("admin-user"), enqueue("inv-3"))
	if err != nil || shown.Jobs[0].Job.ID != taken.ID {
		t.Errorf("%+v, %v", shown, err)
	}
	copied := enqueue("other")
	copied.Jobs[0].ID = taken.ID
	if code := verdict(s.as("creator"), copied); code != rota.Conflict {
		t.Errorf("a request with the id of a job of another user: %q", code)
	}
}

// TestDirectRunShowsExecutorOnlyTheOutcome redacts a job that has ended.
func TestDirectRunShowsExecutorOnlyTheOutcome(t *testing.T) {
	s := newMatrix(t)
	j := s.trigger("job")
	j.Run = &rota.Run{Runner: "w", Outcome: rota.OutcomeFailed, Error: "salary 7", ErrorCode: "statement", Result: []byte(`7`), LogPath: "x"}
	for user, hidden := range map[string]bool{"executor": true, "owner": false} {
		shown, err := s.as(user).Redact(context.Background(), j)
		if err != nil || shown.Run.Outcome != rota.OutcomeFailed || shown.Run.ErrorCode != "statement" {
			t.Fatal(shown, err)
		}
		if got := shown.Run.Error == "" && shown.Run.Result == nil && shown.Run.LogPath == "" && shown.Params == nil; got != hidden {
			t.Errorf("%s is shown %+v", user, shown.Run)
		}
	}
}

// TestAuthorizedCommandDependsOnItsDefinition recreates a definition after a direct run was authorized.
func TestAuthorizedCommandDependsOnItsDefinition(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	start := &rota.Direct{Meta: rota.NewMeta("executor"), Job: rota.NewJob{Template: "job"}, Lease: time.Minute, Seed: rota.NewToken()}
	guard := s.as("executor")
	if err := guard.Authorize(ctx, start); err != nil {
		t.Fatal(err)
	}
	s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"})
	s.define("job", "creator")
	start.ReservationID = s.must(&rota.Reserve{Meta: rota.NewMeta("executor"), Node: "n", For: time.Minute}).(*rota.Reserved).Reservation.ID
	if _, err := rota.Do[*rota.Directed](ctx, s.store, start); rota.CodeOf(err) != rota.Conflict || !strings.Contains(err.Error(), "template job was changed or recreated") {
		t.Errorf("%v", err)
	}
	if err := guard.Authorize(ctx, start); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("%v", err)
	}
}
