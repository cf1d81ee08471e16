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
		{"PATCH", job, `{"priority":3}`}, {"PUT", "limits", `{"global":7}`}, {"PATCH", "templates/letter", `{"priority":3}`},
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
