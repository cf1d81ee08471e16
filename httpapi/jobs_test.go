package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func TestEnqueueAndShowJob(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	made := s.post("jobs", `{"type": "mail", "params": {"to": "ada"}, "priority": 7}`).is(201)
	job := made.job()
	if location := made.header.Get("Location"); location != "/api/v1/jobs/"+job.ID.String() {
		t.Errorf("the location is %s", location)
	}
	shown := s.get("jobs/" + job.ID.String()).is(200)
	if shown.text != made.text {
		t.Errorf("GET differs from the response of POST:\n%s\n%s", shown.text, made.text)
	}
	fields := read[map[string]any](shown)
	for _, name := range strings.Fields(`id execution_id type params status state priority position attempt max_attempts retry_of template schedule
		group_id scope_kind scope_id plan_time run_at unique_key class shard created_by created_at queued_at started_at finished_at worker run`) {
		if _, there := fields[name]; !there {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range strings.Fields("retry_of template schedule group_id plan_time run_at unique_key class shard started_at finished_at worker run") {
		if fields[name] != nil {
			t.Errorf("%s is %v, not null", name, fields[name])
		}
	}
	if _, there := fields["duplicate"]; there {
		t.Error("duplicate is shown")
	}
	if job.Status != "QUEUED" || job.State != "queued" || job.Priority != 7 || job.CreatedBy != "admin" || job.ScopeKind != "global" || job.MaxAttempts != 4 {
		t.Errorf("%+v", job)
	}
}

func TestEnqueueWithAllFields(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	s.post("templates", `{"name": "welcome", "type": "mail", "default_params": {"to": "all", "n": 1}, "priority": 3, "timeout": "9s", "concurrency_key": "smtp"}`).is(201)
	job := s.post("jobs", `{"template": "welcome", "params": {"n": 2}, "run_at": "2099-01-01T10:00:00+02:00", "unique_key": "k", "unique_for": "1 DAY",
		"max_retries": 1, "backoff": "90 SECONDS", "backoff_max": "1h30m", "jitter": 0.5, "scope_kind": "user", "scope_id": "7",
		"plan_time": "2026-01-01T00:00:00Z", "name": "greeting"}`).is(201).job()
	if string(job.Params) != `{"n":2,"to":"all"}` || job.Template != "welcome" || job.Type != "mail" || job.Priority != 3 || job.Name != "greeting" {
		t.Errorf("%+v", job)
	}
	if job.RunAt.Format("15:04Z07:00") != "08:00Z" || job.State != "scheduled" || job.UniqueKey != "k" || job.ScopeID != "7" || job.MaxAttempts != 2 {
		t.Errorf("%+v", job)
	}
	text := s.get("jobs/" + job.ID.String()).text
	for _, want := range []string{
		`"backoff":"1m30s"`, `"backoff_max":"1h30m"`, `"timeout":"9s"`, `"jitter":0.5`, `"unique_for":"24h"`, `"run_at":"2099-01-01T08:00:00Z"`,
		`"plan_time":"2026-01-01T00:00:00Z"`, `"concurrency_key":"smtp"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	delayed := s.post("jobs", `{"type": "mail", "params": {"to": "ada"}, "delay": "5 MINUTES"}`).is(201).job()
	if d := delayed.RunAt.Sub(delayed.CreatedAt.Time).Minutes(); d < 4.9 || d > 5.1 {
		t.Errorf("it is delayed by %v minutes", d)
	}
}

func TestEnqueueWithTakenUniqueKeyReturnsFirstJob(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	first := s.post("jobs", `{"type": "a", "unique_key": "k"}`).is(201).job()
	second := s.post("jobs", `{"type": "a", "unique_key": "k"}`).is(200).job()
	if second.ID != first.ID || !second.Duplicate || first.Duplicate {
		t.Errorf("%v %v", first, second)
	}
}

func TestEnqueueWithInvalidParamsIsRefused(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	p := s.post("jobs", `{"type": "mail", "params": {"to": "a", "n": "many", "secret": "hunter2-hunter2"}}`).problem(422, "invalid")
	var fields []string
	for _, e := range p.Errors {
		fields = append(fields, e.Field)
	}
	slices.Sort(fields)
	if strings.Join(fields, " ") != "params.n params.secret params.to" && strings.Join(fields, " ") != "params params.n params.to" {
		t.Errorf("the fields are %v", fields)
	}
	if strings.Contains(fmt.Sprint(p), "hunter2") {
		t.Errorf("the error contains a value of the request: %v", p)
	}
	if p := s.post("jobs", `{"type": "mail"}`).problem(422, "invalid"); p.Errors[0].Field != "params.to" {
		t.Errorf("%+v", p)
	}
	if p := s.post("jobs/batch", `{"jobs": [{"type": "mail", "params": {"to": "ada"}}, {"type": "mail", "params": {"to": 7}}]}`).problem(422, "invalid"); p.Errors[0].Field != "jobs[1].params.to" {
		t.Errorf("%+v", p)
	}
	if items := read[api.List[api.Job]](s.get("jobs").is(200)).Items; len(items) != 0 {
		t.Errorf("there are %d jobs", len(items))
	}
}

func TestBatchIsAtomic(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	var asked []api.JobRequest
	for range 2500 {
		asked = append(asked, api.JobRequest{Type: "a"})
	}
	asked[7].UniqueKey, asked[9].UniqueKey = "k", "k"
	batch := read[api.Batch](s.post("jobs/batch", api.BatchRequest{Jobs: asked}).is(201))
	if len(batch.Items) != 2500 || batch.Items[9].ID != batch.Items[7].ID || !batch.Items[9].Duplicate || batch.Items[8].Duplicate {
		t.Errorf("%d items", len(batch.Items))
	}
	asked[100].Type = "unheard-of"
	if p := s.post("jobs/batch", api.BatchRequest{Jobs: asked}).problem(422, "invalid"); p.Errors[0].Field != "jobs[100].type" {
		t.Errorf("%+v", p)
	}
	if n := len(s.all("jobs", 1000)); n != 2499 {
		t.Errorf("there are %d jobs", n)
	}
}

// all reads all pages of a list.
func (s *server) all(path string, limit int) (ids []string) {
	s.Helper()
	type row struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	for _, item := range listAll[row](s, path, limit) {
		ids = append(ids, item.ID+item.Name)
	}
	return ids
}

// listAll reads all pages of a list.
func listAll[T any](s *server, path string, limit int) (items []T) {
	s.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for cursor := ""; ; {
		page := read[api.List[T]](s.get(path + join + fmt.Sprintf("limit=%d", limit) + cursor).is(200))
		items = append(items, page.Items...)
		if page.NextCursor == "" {
			return items
		}
		if len(page.Items) > limit {
			s.Fatalf("a page has %d items", len(page.Items))
		}
		cursor = "&cursor=" + url.QueryEscape(string(page.NextCursor))
	}
}

func TestListJobsWithFilters(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	s.post("templates", `{"name": "tpl", "type": "a"}`).is(201)
	s.post("schedules", `{"name": "sch", "template": "tpl", "every": "1h"}`).is(201)
	s.post("jobs", `{"type": "b"}`).is(201)
	s.post("jobs", `{"type": "a", "delay": "1h"}`).is(201)
	s.post("jobs", `{"template": "tpl"}`).is(201)
	s.post("schedules/sch/trigger", nil).is(201)
	group := read[api.GroupDetail](s.post("groups", `{"mode": "sequential", "jobs": [{"type": "b"}, {"type": "b"}]}`).is(201))
	failed := s.drive([]string{"b"}, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "no"})
	for filter, want := range map[string]int{
		"": 7, "type=a": 3, "type=b": 4, "template=tpl": 2, "schedule=sch": 1, "group=" + group.ID.String(): 2,
		"state=scheduled": 2, "state=blocked": 1, "state=queued": 3, "state=FAILED": 1, "state=running": 0,
		"status=QUEUED": 6, "type=b&state=queued": 1, "execution=" + failed.ID.String(): 2, "execution=" + failed.ID.String() + "&state=failed": 1,
		"execution=" + rota.NewID().String(): 0, "type=nobody": 0, "status=running&state=failed": 1, "status=QUEUED&state=failed": 0,
	} {
		for _, limit := range []int{1, 3, 1000} {
			path := "jobs"
			if filter != "" {
				path += "?" + filter
			}
			if got := s.all(path, limit); len(got) != want {
				t.Errorf("%q has %d jobs, not %d", filter, len(got), want)
			}
		}
	}
}

// TestPagesDuringInsertsShowEachJobOnce reads all pages while jobs are enqueued. Each job that existed
// at the start appears once.
func TestPagesDuringInsertsShowEachJobOnce(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	before := map[string]bool{}
	for range 60 {
		before[s.post("jobs", `{"type": "a"}`).is(201).job().ID.String()] = true
	}
	stop := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.post("jobs", `{"type": "a"}`)
			}
		}
	})
	for _, path := range []string{"jobs", "executions"} {
		seen := map[string]bool{}
		for _, id := range s.all(path, 7) {
			if id = id[:36]; seen[id] {
				t.Errorf("%s shows %s twice", path, id)
			}
			seen[id] = true
		}
		for id := range before {
			if !seen[id] {
				t.Errorf("%s does not show %s", path, id)
			}
		}
	}
	close(stop)
	busy.Wait()
}

func TestListQueueInDispatchOrder(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	var want []string
	for i := range 9 {
		job := s.post("jobs", fmt.Sprintf(`{"type": "a", "priority": %d}`, -i%3)).is(201).job()
		want = append(want, job.ID.String()+"a")
	}
	want = []string{want[0], want[3], want[6], want[1], want[4], want[7], want[2], want[5], want[8]}
	for _, limit := range []int{1, 2, 1000} {
		if got := s.all("queue", limit); !slices.Equal(got, want) {
			t.Errorf("in pages of %d it is %v, not %v", limit, got, want)
		}
	}
	s.post("jobs", `{"type": "a", "delay": "1h"}`).is(201)
	if got := s.all("queue", 1000); len(got) != 9 {
		t.Errorf("%d jobs are in the queue", len(got))
	}
}

// TestListQueueAfterCursorJobLeft cancels the job at the end of a page.
func TestListQueueAfterCursorJobLeft(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	var ids []string
	for range 6 {
		ids = append(ids, s.post("jobs", `{"type": "a"}`).is(201).job().ID.String())
	}
	page := read[api.List[api.Job]](s.get("queue?limit=3").is(200))
	s.post("jobs/"+ids[2]+"/cancel", nil).is(200)
	s.post("jobs/"+ids[1]+"/cancel", nil).is(200)
	rest := read[api.List[api.Job]](s.get("queue?limit=2&cursor=" + string(page.NextCursor)).is(200))
	if len(rest.Items) != 2 || rest.Items[0].ID.String() != ids[3] || rest.Items[1].ID.String() != ids[4] || rest.NextCursor == "" {
		t.Errorf("%+v", rest)
	}
}

func TestCursorOfAnotherListIsRefused(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	for range 3 {
		s.post("jobs", `{"type": "a"}`).is(201)
	}
	cursor := string(read[api.List[api.Job]](s.get("jobs?limit=1").is(200)).NextCursor)
	for _, path := range []string{
		"executions?cursor=" + cursor, "queue?cursor=" + cursor, "types?cursor=" + cursor, "audit?cursor=" + cursor, "groups?cursor=" + cursor,
		"jobs?cursor=" + cursor[:len(cursor)-2], "jobs?cursor=" + cursor + "AA", "jobs?cursor=x", "jobs?cursor=" + strings.ToUpper(cursor),
	} {
		if p := s.get(path).problem(400, "invalid"); p.Errors[0].Field != "cursor" {
			t.Errorf("%s: %+v", path, p)
		}
	}
}
