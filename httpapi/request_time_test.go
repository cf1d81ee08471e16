package httpapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

// laterStore has a clock that is ahead, and records the searches for jobs.
type laterStore struct {
	rota.Store
	ahead time.Duration
	found []rota.JobQuery
}

func (s *laterStore) NextDue(ctx context.Context) (rota.Due, error) {
	due, err := s.Store.NextDue(ctx)
	due.Now = due.Now.Add(s.ahead)
	return due, err
}

func (s *laterStore) FindJobs(ctx context.Context, q rota.JobQuery) (rota.JobPage, error) {
	s.found = append(s.found, q)
	return s.Store.FindJobs(ctx, q)
}

func newLaterServer(t *testing.T) (*server, *laterStore) {
	later := &laterStore{}
	s := newServer(t, func(c *httpapi.Config) { later.Store, c.Store = c.Store, later })
	s.declare("mail")
	return s, later
}

// TestRepeatedBulkRequestCountsItsDurationsFromTheFirst sends a bulk request again when the job would match.
func TestRepeatedBulkRequestCountsItsDurationsFromTheFirst(t *testing.T) {
	s, later := newLaterServer(t)
	id := s.enqueue(`{"type":"mail"}`)
	for range 2 {
		done := read[api.Many](s.post("jobs/cancel", `{"until":"1h"}`, "Idempotency-Key", "b").is(200))
		if done.Matched != 0 || s.get("jobs/"+id).job().State != "queued" {
			t.Errorf("%s later: %+v", later.ahead, done)
		}
		later.ahead = 2 * time.Hour
	}
	if done := read[api.Many](s.post("jobs/cancel", `{"until":"1h"}`, "Idempotency-Key", "c").is(200)); done.Cancelled != 1 {
		t.Errorf("another request: %+v", done)
	}
}

// TestSinceEndsTheSearchAtAnID lists what is newer than a time: the search must not read the whole history.
func TestSinceEndsTheSearchAtAnID(t *testing.T) {
	s, later := newLaterServer(t)
	id := s.enqueue(`{"type":"mail"}`)
	for _, path := range []string{"jobs?since=1h", "executions?since=1h", "jobs?since=1h&q=mail&state=queued", "dead?since=1h"} {
		later.found = nil
		page := read[api.List[struct{ ID string }]](s.get(path).is(200))
		if path != "dead?since=1h" && (len(page.Items) != 1 || page.Items[0].ID != id) {
			t.Errorf("%s: %+v", path, page)
		}
		for _, q := range later.found {
			if age := q.Since.Sub(q.After.Time()); age <= rota.RequestKeep || age > 3*rota.RequestKeep {
				t.Errorf("%s: the search since %s ends at an id of %s", path, q.Since, q.After.Time())
			}
		}
		if len(later.found) == 0 {
			t.Errorf("%s: no search", path)
		}
	}
	prefix := "jobs?since=1h&id_prefix=" + id[:13]
	if page := read[api.List[struct{ ID string }]](s.get(prefix).is(200)); len(page.Items) != 1 {
		t.Errorf("%s: %+v", prefix, page)
	}
}
