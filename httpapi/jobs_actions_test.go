package httpapi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (s *server) enqueue(body string) string {
	s.Helper()
	return s.post("jobs", body).is(201).job().ID.String()
}

func TestCancelJob(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	waits := s.enqueue(`{"type": "a", "delay": "1h"}`)
	gone := read[api.JobCancelled](s.post("jobs/"+waits+"/cancel", `{"reason": "not needed"}`).is(200))
	if gone.State != "cancelled" || gone.Status != "CANCELLED" || gone.Stopping || gone.FinishedAt.IsZero() {
		t.Errorf("%+v", gone)
	}
	s.enqueue(`{"type": "a"}`)
	runs := s.drive([]string{"a"}, rota.FinishItem{})
	asked := read[api.JobCancelled](s.post("jobs/"+runs.ID.String()+"/cancel", `{"reason": "too slow"}`).is(200))
	if !asked.Stopping || asked.State != "running" || asked.Run.CancelReason != "too slow" || asked.Run.CancelBy != "admin" {
		t.Errorf("%+v", asked)
	}
	s.enqueue(`{"type": "a"}`)
	done := s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeCompleted})
	s.post("jobs/"+done.ID.String()+"/cancel", nil).problem(409, "conflict")
	s.post("jobs/"+rota.NewID().String()+"/cancel", nil).problem(404, "not_found")
	s.post("jobs/nonsense/cancel", nil).problem(404, "not_found")
}

// TestEarlierAttemptSelectsLastAttempt cancels and explains by the id of a job that was retried.
func TestEarlierAttemptSelectsLastAttempt(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	old := s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "no"}).ID.String()
	why := read[api.Explanation](s.get("jobs/" + old + "/explain").is(200))
	if why.JobID.String() == old || why.Reasons[0].Code != "retry" || why.Reasons[0].Until.IsZero() || why.Reasons[0].Text == "" {
		t.Errorf("%+v", why)
	}
	gone := read[api.JobCancelled](s.post("jobs/"+old+"/cancel", nil).is(200))
	if gone.ID.String() != why.JobID.String() || gone.State != "cancelled" || gone.Attempt != 2 {
		t.Errorf("%+v", gone)
	}
	s.get("jobs/"+rota.NewID().String()+"/explain").problem(404, "not_found")
}

func TestMoveJob(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	var ids []string
	for range 4 {
		ids = append(ids, s.enqueue(`{"type": "a"}`))
	}
	high := s.enqueue(`{"type": "a", "priority": 9}`)
	order := func() (got []int) {
		for _, id := range s.all("queue", 100) {
			got = append(got, slices.Index(append(ids, high), id[:36]))
		}
		return got
	}
	for _, test := range []struct {
		job  int
		body string
		want []int
	}{
		{3, `{"to": "top"}`, []int{4, 3, 0, 1, 2}},
		{3, `{"to": "BOTTOM"}`, []int{4, 0, 1, 2, 3}},
		{3, fmt.Sprintf(`{"before": %q}`, ids[1]), []int{4, 0, 3, 1, 2}},
		{0, fmt.Sprintf(`{"after": %q}`, ids[2]), []int{4, 3, 1, 2, 0}},
		{0, fmt.Sprintf(`{"before": %q}`, high), []int{0, 4, 3, 1, 2}},
	} {
		s.post("jobs/"+ids[test.job]+"/move", test.body).is(200)
		if got := order(); !slices.Equal(got, test.want) {
			t.Errorf("after %d %s it is %v, not %v", test.job, test.body, got, test.want)
		}
	}
	if p := s.post("jobs/"+ids[1]+"/move", fmt.Sprintf(`{"before": %q}`, rota.NewID())).problem(422, "invalid"); p.Errors[0].Field != "before" {
		t.Errorf("%+v", p)
	}
	runs := s.drive([]string{"a"}, rota.FinishItem{}).ID.String()
	s.post("jobs/"+runs+"/move", `{"to": "top"}`).problem(409, "conflict")
	s.send("PATCH", "jobs/"+runs, `{"priority": 3}`).problem(409, "conflict")
	s.send("PATCH", "jobs/"+runs, `{"params": {"a": 3}}`).problem(409, "conflict")
	s.post("jobs/"+rota.NewID().String()+"/move", `{"to": "top"}`).problem(404, "not_found")
}

func TestEditJob(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	id := s.enqueue(`{"type": "mail", "params": {"to": "ada"}}`)
	job := s.send("PATCH", "jobs/"+id, `{"priority": 5, "params": {"to": "bob"}}`).is(200).job()
	if job.Priority != 5 || string(job.Params) != `{"to":"bob"}` {
		t.Errorf("%+v", job)
	}
	if p := s.send("PATCH", "jobs/"+id, `{"params": {"to": 3}}`).problem(422, "invalid"); p.Errors[0].Field != "params.to" {
		t.Errorf("%+v", p)
	}
	s.send("PATCH", "jobs/"+id, `{}`).problem(422, "invalid")
	s.send("PATCH", "jobs/"+rota.NewID().String(), `{"priority": 1}`).problem(404, "not_found")
}

func TestRetryDeadJob(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a", "max_retries": 0, "params": {"x": 1}}`)
	dead := s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "boom", ErrorCode: "E1"})
	list := read[api.List[api.Job]](s.get("dead").is(200)).Items
	if len(list) != 1 || list[0].ID.String() != dead.ID.String() || list[0].Run.Error != "boom" || list[0].Run.Status != "FAILED" {
		t.Errorf("%+v", list)
	}
	retried := s.post("jobs/"+dead.ID.String()+"/retry", nil).is(201)
	if job := retried.job(); job.RedriveOf.String() != dead.ID.String() || string(job.Params) != `{"x":1}` || job.State != "queued" {
		t.Errorf("%+v", job)
	}
	if len(read[api.List[api.Job]](s.get("dead").is(200)).Items) != 0 {
		t.Error("it is still dead")
	}
	s.post("jobs/"+dead.ID.String()+"/retry", nil).problem(409, "conflict")
	s.post("jobs/"+retried.job().ID.String()+"/retry", nil).problem(409, "conflict")
	s.post("jobs/"+rota.NewID().String()+"/retry", nil).problem(404, "not_found")
}

func TestCancelManyJobs(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	var jobs []rota.NewJob
	for range 1203 {
		jobs = append(jobs, rota.NewJob{Type: "a"})
	}
	s.apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	s.enqueue(`{"type": "b"}`)
	s.enqueue(`{"type": "a", "delay": "1h"}`)
	s.drive([]string{"a"}, rota.FinishItem{})
	before := s.dump()
	for _, body := range []string{`{}`, `{"reason": "why"}`, `{"limit": 5}`, `{"all": false}`, `{"state": "completed"}`, `{"all": true, "type": "a"}`, `{"type": "a", "limit": 100001}`} {
		s.post("jobs/cancel", body).problem(422, "invalid")
	}
	if s.dump() != before {
		t.Fatal("a refused filter changed something")
	}
	many := read[api.Many](s.post("jobs/cancel", `{"type": "a", "limit": 700}`).is(200))
	if many.Matched != 700 || many.Changed != 700 || !many.More {
		t.Errorf("%+v", many)
	}
	many = read[api.Many](s.post("jobs/cancel", `{"type": "a", "state": "scheduled"}`).is(200))
	if many != (api.Many{}) && many.Matched > 1 {
		t.Errorf("%+v", many)
	}
	for range 3 {
		many = read[api.Many](s.post("jobs/cancel", `{"all": true}`).is(200))
	}
	if n := len(s.all("jobs?state=queued", 1000)); n != 0 || many.More || many.Refused != 0 {
		t.Errorf("%d are left: %+v", n, many)
	}
	if runs := s.all("jobs?state=running", 10); len(runs) != 1 || many.Stopping != 1 || many.Cancelled != 0 {
		t.Errorf("%v %+v", runs, many)
	}
}

func TestRetryManyJobs(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	for _, typ := range []string{"a", "a", "b"} {
		s.enqueue(`{"type": "` + typ + `", "max_retries": 0}`)
		s.drive([]string{typ}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	}
	cancelled := s.enqueue(`{"type": "b"}`)
	s.post("jobs/"+cancelled+"/cancel", nil).is(200)
	s.post("jobs/retry", `{}`).problem(422, "invalid")
	s.post("dead/retry", `{}`).problem(422, "invalid")
	s.post("jobs/retry", `{"state": "queued"}`).problem(422, "invalid")
	if many := read[api.Many](s.post("jobs/retry", `{"type": "a", "limit": 1}`).is(200)); many.Retried != 1 || !many.More {
		t.Errorf("%+v", many)
	}
	if many := read[api.Many](s.post("dead/retry", `{"all": true}`).is(200)); many.Retried != 2 || many.More {
		t.Errorf("%+v", many)
	}
	if many := read[api.Many](s.post("jobs/retry", `{"state": "cancelled"}`).is(200)); many.Retried != 1 {
		t.Errorf("%+v", many)
	}
	if len(s.all("dead", 10)) != 0 || len(s.all("queue", 10)) != 4 {
		t.Error("not all were retried")
	}
}
