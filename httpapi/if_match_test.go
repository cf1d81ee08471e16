package httpapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

// versionedServer returns a server with one of each resource that has a version, by path.
func versionedServer(t *testing.T) (s *server, job string) {
	s = newServer(t)
	s.declare("mail")
	s.post("templates", `{"name":"letter","type":"mail"}`).is(201)
	s.post("schedules", `{"name":"nightly","template":"letter","cron":"0 2 * * *"}`).is(201)
	return s, "jobs/" + s.enqueue(`{"type":"mail"}`)
}

// TestReadsHaveTheVersionAsETag reads each resource, and reads it again with If-Match.
func TestReadsHaveTheVersionAsETag(t *testing.T) {
	s, job := versionedServer(t)
	for _, path := range []string{"types/mail", "templates/letter", "schedules/nightly", "limits", "webhooks", job} {
		got := s.get(path).is(200)
		want := read[struct{ Version string }](got).Version
		if want == "" {
			want = "0"
		}
		tag := got.header.Get("ETag")
		if tag != `"`+want+`"` {
			t.Errorf("%s: the tag is %s, the version %s", path, tag, want)
		}
		s.send("GET", path, nil, "If-Match", tag).is(200)
		s.send("GET", path, nil, "If-Match", "*").is(200)
		s.send("GET", path, nil, "If-Match", `"other"`).is(412)
	}
}

// TestWritesWithAnotherTagAreRefused sends tags that are not the current one to every request that changes a resource with a version,
// then the current one.
func TestWritesWithAnotherTagAreRefused(t *testing.T) {
	s, job := versionedServer(t)
	for _, one := range []struct{ method, path, resource, body string }{
		{"PUT", "types/mail", "types/mail", `{"description":"letters"}`},
		{"POST", "types/mail/pause", "types/mail", ""},
		{"POST", "types/mail/resume", "types/mail", ""},
		{"PATCH", "templates/letter", "templates/letter", `{"priority":3}`},
		{"POST", "templates/letter/archive", "templates/letter", ""},
		{"POST", "templates/letter/unarchive", "templates/letter", ""},
		{"POST", "schedules/nightly/resume", "schedules/nightly", ""},
		{"PATCH", "schedules/nightly", "schedules/nightly", `{"cron":"0 3 * * *"}`},
		{"POST", "schedules/nightly/trigger", "schedules/nightly", ""},
		{"POST", "schedules/nightly/pause", "schedules/nightly", ""},
		{"DELETE", "schedules/nightly", "schedules/nightly", ""},
		{"PUT", "limits", "limits", `{"global":7}`},
		{"PUT", "limits", "limits", `{"global":8}`},
		{"PUT", "webhooks", "webhooks", `{"webhooks":[]}`},
		{"PATCH", job, job, `{"priority":3}`},
		{"PATCH", job, job, `{"priority":4}`},
		{"POST", job + "/move", job, `{"to":"top"}`},
		{"POST", job + "/run-now", job, ""},
		{"POST", job + "/cancel", job, ""},
		{"POST", job + "/retry", job, ""},
	} {
		send := func(tag string) answer {
			var body any
			if one.body != "" {
				body = one.body
			}
			return s.send(one.method, one.path, body, "If-Match", tag)
		}
		current, before := s.get(one.resource).is(200).header.Get("ETag"), s.dump()
		bare := strings.Trim(current, `"`)
		for _, tag := range []string{
			`"3"`, `"` + api.ExampleID + `"`, "W/" + current, bare, "no tag", `"`, `""`, `"3", "4"`, `*, "3"`, `"3` + current, strings.ToUpper(current) + "x",
		} {
			p := send(tag).problem(412, "conflict")
			if !strings.Contains(p.Detail, "If-Match") || !strings.Contains(p.Hint, "ETag") {
				t.Errorf("%s %s with %s: %+v", one.method, one.path, tag, p)
			}
		}
		if s.dump() != before {
			t.Errorf("%s %s was refused and changed something", one.method, one.path)
		}
		if got := send(`"3" ,W/"4",` + current); got.status >= 300 {
			t.Errorf("%s %s with the current tag: %d %s", one.method, one.path, got.status, got.text)
		}
	}
}

func TestAnyTagMatchesWhatExists(t *testing.T) {
	s, job := versionedServer(t)
	s.send("PATCH", job, `{"priority":3}`, "If-Match", "*").is(200)
	s.send("PUT", "types/mail", `{"description":"letters"}`, "If-Match", "*").is(200)
	s.send("PUT", "types/new", `{}`, "If-Match", "*").problem(412, "conflict")
	s.get("types/new").is(404)
	s.send("PATCH", "templates/none", `{"priority":3}`, "If-Match", "*").is(404)
}

// TestTagOfAnAnswerIsThatOfTheNextRead changes a resource with the tag of the answer before, without a read in between.
func TestTagOfAnAnswerIsThatOfTheNextRead(t *testing.T) {
	s, job := versionedServer(t)
	first := s.send("PATCH", job, `{"priority":3}`).is(200).header.Get("ETag")
	if read := s.get(job).header.Get("ETag"); read != first || first == `"0"` {
		t.Errorf("the answer has %s, the read %s", first, read)
	}
	second := s.send("PATCH", job, `{"priority":4}`, "If-Match", first).is(200).header.Get("ETag")
	s.send("PATCH", job, `{"priority":5}`, "If-Match", first).is(412)
	s.send("PATCH", job, `{"priority":5}`, "If-Match", second).is(200)
}

// TestRepeatedRequestIsNotComparedAgain sends a request with a key twice: the first one changed the version.
func TestRepeatedRequestIsNotComparedAgain(t *testing.T) {
	s, job := versionedServer(t)
	for _, one := range []struct{ method, path, body string }{
		{"PATCH", job, `{"priority":3}`},
		{"PUT", "limits", `{"global":7}`},
		{"PATCH", "templates/letter", `{"priority":3}`},
		{"PUT", "types/mail", `{"description":"letters"}`},
	} {
		tag := s.get(one.path).header.Get("ETag")
		first := s.send(one.method, one.path, one.body, "If-Match", tag, "Idempotency-Key", one.path).is(200)
		again := s.send(one.method, one.path, one.body, "If-Match", tag, "Idempotency-Key", one.path)
		if again.status != 200 || again.header.Get("ETag") != first.header.Get("ETag") {
			t.Errorf("%s: %d %s", one.path, again.status, again.text)
		}
	}
}

// TestRepeatedRequestThatWasRefusedIsComparedAgain sends a request with a key twice. The store refused the first one, because the
// job was changed after the comparison.
func TestRepeatedRequestThatWasRefusedIsComparedAgain(t *testing.T) {
	s := newServer(t, func(c *httpapi.Config) { c.Store = &racingStore{Store: c.Store} })
	s.declare("mail")
	job := "jobs/" + s.enqueue(`{"type":"mail"}`)
	tag := s.get(job).header.Get("ETag")
	change := func(tag string) answer {
		return s.send("PATCH", job, `{"priority":3}`, "If-Match", tag, "Idempotency-Key", "k")
	}
	for range 3 {
		change(tag).problem(412, "conflict")
		if got := s.get(job).job().Priority; got != 9 {
			t.Fatalf("the priority is %d", got)
		}
	}
	change(s.get(job).header.Get("ETag")).is(200)
	change(tag).is(200) // it was applied
}

// TestRepeatedDeleteIsAnswered deletes a schedule twice with one key: the tag of the second request is that of nothing.
func TestRepeatedDeleteIsAnswered(t *testing.T) {
	s, _ := versionedServer(t)
	tag := s.get("schedules/nightly").header.Get("ETag")
	for range 2 {
		s.send("DELETE", "schedules/nightly", nil, "If-Match", tag, "Idempotency-Key", "k").is(204)
	}
}

// TestTagOfAnEarlierAttemptIsRefusedWithTheLastOne changes an execution by its first attempt, whose tag is not that of the last one.
func TestTagOfAnEarlierAttemptIsRefusedWithTheLastOne(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	id := s.enqueue(`{"type":"mail","backoff":"1h"}`)
	s.send("PATCH", "jobs/"+id, `{"priority":3}`).is(200)
	s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	last := read[struct{ Attempts []struct{ ID string } }](s.get("executions/" + id).is(200)).Attempts[1].ID
	p := s.send("PATCH", "jobs/"+id, `{"priority":4}`, "If-Match", s.get("jobs/"+id).header.Get("ETag")).problem(412, "conflict")
	if !strings.Contains(p.Detail, last) || !strings.Contains(p.Hint, "/api/v1/jobs/"+last) {
		t.Errorf("%+v", p)
	}
	s.send("PATCH", "jobs/"+id, `{"priority":4}`, "If-Match", s.get("jobs/"+last).header.Get("ETag")).is(200)
}

// TestTagForARequestWithoutVersionIsRefused sends If-Match with writes that change no single resource.
func TestTagForARequestWithoutVersionIsRefused(t *testing.T) {
	s, _ := versionedServer(t)
	before := s.dump()
	for _, one := range []struct{ method, path, body string }{
		{"POST", "jobs", `{"type":"mail"}`}, {"PUT", "definitions", `{}`}, {"POST", "jobs/cancel", `{"all":true}`},
	} {
		p := s.send(one.method, one.path, one.body, "If-Match", `"3"`).is(400)
		if !strings.Contains(p.text, "If-Match") {
			t.Errorf("%s: %s", one.path, p.text)
		}
	}
	if s.dump() != before {
		t.Error("something was changed")
	}
}

// TestListsOfExecutionsCountAttempts reads an execution with a waiting retry.
func TestListsOfExecutionsCountAttempts(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	id := s.enqueue(`{"type":"mail","backoff":"1h"}`)
	s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	item := read[api.List[map[string]any]](s.get("executions").is(200)).Items[0]
	if _, has := item["attempts"]; has || item["attempt_count"] != 2.0 {
		t.Errorf("in a list: %v", item)
	}
	detail := read[struct {
		AttemptCount int `json:"attempt_count"`
		Attempts     []map[string]any
	}](s.get("executions/" + id).is(200))
	if detail.AttemptCount != 2 || len(detail.Attempts) != 2 {
		t.Fatalf("%+v", detail)
	}
	for i, attempt := range detail.Attempts {
		_, hasRun := attempt["run"]
		if attempt["id"] == nil || attempt["attempt"] != float64(i+1) || attempt["state"] == nil || !hasRun {
			t.Errorf("attempt %d: %v", i+1, attempt)
		}
	}
}

// racingStore changes a job after the first read of its last attempt.
type racingStore struct {
	rota.Store
	once sync.Once
}

func (r *racingStore) LastAttempt(ctx context.Context, id rota.ID) (*rota.Job, error) {
	j, err := r.Store.LastAttempt(ctx, id)
	r.once.Do(func() {
		_, _ = rota.Do[*rota.Edited](ctx, r.Store, &rota.Edit{Meta: rota.NewMeta("eve"), JobID: id, Priority: new(9)})
	})
	return j, err
}

// racingDefinitions changes a type, a template or a schedule after the first read of each.
type racingDefinitions struct {
	rota.Store
	t    *testing.T
	once map[string]bool
}

func (r *racingDefinitions) first(what string, change func() error) {
	if !r.once[what] {
		r.once[what] = true
		if err := change(); err != nil {
			r.t.Error(err)
		}
	}
}

func (r *racingDefinitions) Type(ctx context.Context, name string) (*rota.Type, error) {
	x, err := r.Store.Type(ctx, name)
	r.first("type", func() error {
		_, err := rota.Do[*rota.TypePut](ctx, r.Store, &rota.PutType{Meta: rota.NewMeta("eve"), Name: name, Spec: rota.TypeSpec{Description: rota.NewID().String()}})
		return err
	})
	return x, err
}

func (r *racingDefinitions) Template(ctx context.Context, name string) (*rota.Template, error) {
	x, err := r.Store.Template(ctx, name)
	r.first("template", func() error {
		spec := x.Spec
		spec.Description = rota.NewID().String()
		_, err := rota.Do[*rota.TemplatePut](ctx, r.Store, &rota.PutTemplate{Meta: rota.NewMeta("eve"), Name: name, Spec: spec})
		return err
	})
	return x, err
}

func (r *racingDefinitions) Schedule(ctx context.Context, name string) (*rota.Schedule, error) {
	x, err := r.Store.Schedule(ctx, name)
	r.first("schedule", func() error {
		spec := x.Spec
		spec.Description = rota.NewID().String()
		command, err := rota.Declare(rota.NewMeta("eve"), name, spec, x.CreatedAt)
		if err == nil {
			_, err = rota.Do[*rota.SchedulePut](ctx, r.Store, command)
		}
		return err
	})
	return x, err
}

// TestActionsRequireTheVersionOfTheirTag changes each resource after a request with its tag has compared it.
func TestActionsRequireTheVersionOfTheirTag(t *testing.T) {
	racing := &racingDefinitions{t: t, once: map[string]bool{"type": true, "template": true, "schedule": true}}
	jobs := &racingStore{}
	s := newServer(t, func(c *httpapi.Config) {
		racing.Store = c.Store
		jobs.Store = racing
		c.Store = jobs
	})
	s.declare("mail")
	s.post("templates", `{"name":"letter","type":"mail"}`).is(201)
	s.post("schedules", `{"name":"nightly","template":"letter","every":"1h","starts_at":"2026-01-01T00:00:00Z"}`).is(201)
	waiting := "jobs/" + s.enqueue(`{"type":"mail"}`)
	for _, one := range []struct{ path, resource, body string }{
		{"types/mail/pause", "types/mail", ""},
		{"templates/letter/archive", "templates/letter", ""},
		{"templates/letter/unarchive", "templates/letter", ""},
		{"schedules/nightly/pause", "schedules/nightly", ""},
		{"schedules/nightly/resume", "schedules/nightly", ""},
		{"schedules/nightly/trigger", "schedules/nightly", ""},
		{"schedules/nightly/backfill", "schedules/nightly", `{"from":"2026-01-02T00:00:00Z","to":"2026-01-02T03:00:00Z"}`},
		{waiting + "/cancel", waiting, ""},
		{waiting + "/retry", waiting, ""},
		{waiting + "/run-again", waiting, ""},
	} {
		tag := s.get(one.resource).is(200).header.Get("ETag")
		clear(racing.once)
		jobs.once = sync.Once{}
		var body any
		if one.body != "" {
			body = one.body
		}
		s.send("POST", one.path, body, "If-Match", tag).problem(412, "conflict")
	}
}

// TestChangeBetweenTheComparisonAndTheWriteIsRefused changes a job after the request has compared its tag.
func TestChangeBetweenTheComparisonAndTheWriteIsRefused(t *testing.T) {
	s := newServer(t, func(c *httpapi.Config) { c.Store = &racingStore{Store: c.Store} })
	s.declare("mail")
	job := "jobs/" + s.enqueue(`{"type":"mail"}`)
	s.send("PATCH", job, `{"priority":3}`, "If-Match", s.get(job).header.Get("ETag")).problem(412, "conflict")
	if got := s.get(job).job().Priority; got != 9 {
		t.Errorf("the priority is %d", got)
	}
}
