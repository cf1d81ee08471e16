package httpapi_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func TestRunAtOfWaitingJobChanges(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	delayed := s.send("PATCH", "jobs/"+id, `{"run_at": "2099-01-01T07:00:00+01:00"}`).is(200).job()
	if delayed.State != "scheduled" || !delayed.RunAt.Equal(time.Date(2099, 1, 1, 6, 0, 0, 0, time.UTC)) || !delayed.QueuedAt.IsZero() {
		t.Errorf("%+v", delayed)
	}
	if job := s.send("PATCH", "jobs/"+id, `{"delay": "1h"}`).is(200).job(); job.State != "scheduled" || job.RunAt.After(time.Now().Add(2*time.Hour)) {
		t.Errorf("%+v", job)
	}
	if job := s.send("PATCH", "jobs/"+id, `{"run_at": "2020-01-01T00:00:00Z"}`).is(200).job(); job.State != "queued" {
		t.Errorf("%+v", job)
	}
	s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	retry := read[api.ExecutionDetail](s.get("executions/" + id).is(200)).Attempts[1]
	if job := s.send("PATCH", "jobs/"+retry.ID.String(), `{"delay": "3h"}`).is(200).job(); job.Attempt != 2 || job.State != "scheduled" {
		t.Errorf("%+v", job)
	}
	if job := s.send("PATCH", "jobs/"+id, `{"delay": "5h", "priority": 4}`).is(200).job(); job.ID != retry.ID || job.Priority != 4 {
		t.Errorf("by the id of the first attempt: %+v", job)
	}
}

func TestMergedParamsOfEditAreChecked(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	id := s.enqueue(`{"type": "mail", "params": {"to": "ada"}}`)
	if job := s.send("PATCH", "jobs/"+id, `{"merge_params": {"n": 1}}`).is(200).job(); string(job.Params) != `{"n":1,"to":"ada"}` {
		t.Errorf("%s", job.Params)
	}
	refused := func() {
		t.Helper()
		if p := s.send("PATCH", "jobs/"+id, `{"merge_params": {"to": 3}}`).problem(422, "invalid"); p.Errors[0].Field != "merge_params.to" {
			t.Errorf("%+v", p)
		}
	}
	refused()
	s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	refused() // by the id of the first attempt, while its retry waits
}

func TestRunNowOfDelayedJobAndWaitingRetry(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	id := s.enqueue(`{"type": "a", "delay": "1h"}`)
	for range 2 {
		if job := s.post("jobs/"+id+"/run-now", nil).is(200).job(); job.State != "queued" || job.ID.String() != id {
			t.Errorf("%+v", job)
		}
	}
	s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	running := s.enqueue(`{"type": "a"}`)
	s.drive([]string{"a"}, rota.FinishItem{})
	if p := s.post("jobs/"+running+"/run-now", nil).problem(409, "conflict"); !strings.Contains(p.Hint, "run-again "+running) {
		t.Errorf("%+v", p)
	}
	retry := s.post("jobs/"+id+"/run-now", nil).is(200).job()
	if retry.Attempt != 2 || retry.State != "queued" || retry.RetryOf.String() != id {
		t.Errorf("%+v", retry)
	}
	s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeCompleted})
	if p := s.post("jobs/"+id+"/run-now", nil).problem(409, "conflict"); !strings.Contains(p.Hint, "run-again "+retry.ID.String()) {
		t.Errorf("%+v", p)
	}
	s.post("jobs/"+rota.NewID().String()+"/run-now", nil).problem(404, "not_found")
}

func TestRunNowOfBlockedJobNamesWhatItWaitsFor(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	group := read[api.Group](s.post("groups", `{"mode": "sequential", "jobs": [{"type": "a"}, {"type": "a"}]}`).is(201))
	var second string
	for _, j := range read[api.List[api.Job]](s.get("jobs?group=" + group.ID.String()).is(200)).Items {
		if *j.GroupPosition == 2 {
			second = j.ID.String()
		}
	}
	p := s.post("jobs/"+second+"/run-now", nil).problem(409, "conflict")
	if !strings.Contains(p.Detail, "earlier members of group "+group.ID.String()) || !strings.Contains(p.Hint, "rota job explain "+second) {
		t.Errorf("%+v", p)
	}
}

func TestCompletedJobRunsAgain(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	s.post("templates", `{"name": "welcome", "type": "mail", "default_params": {"to": "ada"}}`).is(201)
	s.enqueue(`{"template": "welcome", "unique_key": "k", "scope_kind": "user", "scope_id": "7", "priority": 4, "max_retries": 2}`)
	id := s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeCompleted}).ID.String()
	if p := s.post("jobs/"+id+"/retry", nil).problem(409, "conflict"); !strings.Contains(p.Hint, "rota job run-again "+id) {
		t.Errorf("%+v", p)
	}
	answer := s.post("jobs/"+id+"/run-again", nil).is(201)
	job := answer.job()
	if job.RedriveOf.String() != id || job.State != "queued" || string(job.Params) != `{"to":"ada"}` || job.UniqueKey != "" ||
		job.ScopeID != "7" || job.Priority != 4 || job.MaxAttempts != 3 || job.CreatedBy != "admin" || job.Template != "welcome" {
		t.Errorf("%+v", job)
	}
	if changed := s.post("jobs/"+id+"/run-again", `{"params": {"n": 2}}`).is(201).job(); string(changed.Params) != `{"n":2,"to":"ada"}` {
		t.Errorf("%s", changed.Params)
	}
	if p := s.post("jobs/"+id+"/run-again", `{"params": {"to": 3}}`).problem(422, "invalid"); p.Errors[0].Field != "params.to" {
		t.Errorf("%+v", p)
	}
	if p := s.post("jobs/"+job.ID.String()+"/run-again", nil).problem(409, "conflict"); !strings.Contains(p.Detail, "has not ended") ||
		!strings.Contains(p.Hint, "rota job cancel "+job.ID.String()) {
		t.Errorf("%+v", p)
	}
	waits := s.enqueue(`{"type": "mail", "params": {"to": "ada"}, "delay": "1h"}`)
	if p := s.post("jobs/"+waits+"/run-again", nil).problem(409, "conflict"); !strings.Contains(p.Hint, "rota job run-now "+waits) {
		t.Errorf("%+v", p)
	}
	s.post("templates/welcome/archive", nil).is(200)
	if p := s.post("jobs/"+id+"/run-again", nil).problem(409, "conflict"); !strings.Contains(p.Detail, "template welcome is archived") {
		t.Errorf("%+v", p)
	}
	s.post("jobs/"+rota.NewID().String()+"/run-again", `{"params": {"n": 1}}`).problem(404, "not_found")
}

func TestRetryTakesChangedParams(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	dead := func() string {
		s.enqueue(`{"type": "mail", "params": {"to": "adda", "n": 1}, "max_retries": 0}`)
		return s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed}).ID.String()
	}
	id := dead()
	if p := s.post("jobs/"+id+"/retry", `{"params": {"to": "x"}}`).problem(422, "invalid"); p.Errors[0].Field != "params.to" {
		t.Errorf("%+v", p)
	}
	if job := s.post("jobs/"+id+"/retry", `{"params": {"to": "ada"}}`).is(201).job(); string(job.Params) != `{"n":1,"to":"ada"}` {
		t.Errorf("%s", job.Params)
	}
	s.post("jobs/cancel", `{"all": true}`).is(200)
	dead()
	if p := s.post("jobs/retry", `{"type": "mail", "params": {"n": "x"}}`).problem(422, "invalid"); p.Errors[0].Field != "params.n" {
		t.Errorf("%+v", p)
	}
	if many := read[api.Many](s.post("dead/retry", `{"type": "mail", "params": {"n": 7}}`).is(200)); many.Retried != 2 {
		t.Errorf("%+v", many)
	}
	for _, j := range read[api.List[api.Job]](s.get("jobs?state=queued").is(200)).Items {
		if string(j.Params) != `{"n":7,"to":"adda"}` {
			t.Errorf("%s", j.Params)
		}
	}
}

// TestBulkRetryChecksAllBeforeItRetriesAny has more jobs than one batch, and the last one that the request
// finds refuses the params.
func TestBulkRetryChecksAllBeforeItRetriesAny(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	s.declare("free")
	s.enqueue(`{"type": "mail", "params": {"to": "ada"}, "max_retries": 0}`)
	oldest := s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed}).ID.String()
	const others = 501
	s.apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: slices.Repeat([]rota.NewJob{{Type: "free", MaxRetries: new(0)}}, others)})
	claimed := s.apply(&rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w", Types: []string{"free"}, Limit: others, Lease: time.Minute, Seed: rota.NewToken(),
	}).(*rota.Claimed)
	finish := &rota.Finish{Meta: rota.NewMeta("")}
	for _, j := range claimed.Jobs {
		finish.Items = append(finish.Items, rota.FinishItem{LeaseRef: j.Lease(), Outcome: rota.OutcomeFailed})
	}
	s.apply(finish)
	before := s.dump()
	p := s.post("dead/retry", `{"all": true, "params": {"n": "x"}}`, "Idempotency-Key", "k").field(422, "invalid", "params.n")
	if !strings.Contains(p.Hint, "job "+oldest+" of type mail refuses them, so that no job was retried") {
		t.Errorf("the hint is %q", p.Hint)
	}
	if after := s.dump(); after != before {
		t.Error("a refused request changed something")
	}
	if many := read[api.Many](s.post("dead/retry", `{"all": true, "params": {"n": 7}}`).is(200)); many.Retried != others+1 || many.Refused != 0 || many.More {
		t.Errorf("%+v", many)
	}
}
