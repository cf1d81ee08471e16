package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

const (
	longRows  = 100
	pageBytes = 40 << 10 // so that several pages are needed
)

// newServerWithLongRows returns a server with long rows and a low byte limit for pages.
func newServerWithLongRows(t *testing.T) *server {
	s := newServer(t)
	httpapi.BoundPages(s.handler, pageBytes)
	s.declare("a")
	long := json.RawMessage(`{"x": "` + strings.Repeat("y", 1<<10) + `"}`)
	var jobs []rota.NewJob
	for i := range longRows {
		jobs = append(jobs, rota.NewJob{Type: "a", Params: long})
		s.apply(&rota.PutTemplate{Meta: rota.NewMeta(""), Name: fmt.Sprintf("t%02d", i), Spec: rota.TemplateSpec{Type: "a", Params: long}})
	}
	s.apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	return s
}

// TestPagesAreLimitedByBytes reads long rows through every list that shows them.
func TestPagesAreLimitedByBytes(t *testing.T) {
	s := newServerWithLongRows(t)
	for _, path := range []string{"jobs?limit=1000", "jobs?state=queued&limit=1000", "queue?limit=1000", "templates?limit=1000"} {
		seen, pages := map[string]bool{}, 1
		for cursor := ""; ; pages++ {
			page := read[api.List[json.RawMessage]](s.get(path + "&cursor=" + cursor).is(200))
			if n := len(page.Items); n > pageBytes>>10 {
				t.Errorf("%s: a page has %d items", path, n)
			}
			for _, item := range page.Items {
				seen[string(item)] = true
			}
			if cursor = string(page.NextCursor); cursor == "" {
				break
			}
		}
		if len(seen) != longRows || pages != 3 {
			t.Errorf("%s: %d rows on %d pages", path, len(seen), pages)
		}
	}
	if p := read[api.Many](s.post("jobs/cancel", `{"all": true}`).is(200)); p.Cancelled != longRows {
		t.Errorf("%+v", p)
	}
}

// TestPageBoundariesOfBatchedReads reads pages that take several reads of the store.
func TestPageBoundariesOfBatchedReads(t *testing.T) {
	const n = 200
	s := newServer(t)
	s.declare("a")
	s.apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: func() (jobs []rota.NewJob) {
		for range n {
			jobs = append(jobs, rota.NewJob{Type: "a"})
		}
		return jobs
	}()})
	for _, path := range []string{"jobs", "queue", "executions?state=pending"} {
		for _, size := range []int{63, 64, 65, 128, 129, 199, 200, 201, 1000} {
			if got := s.all(path, size); len(got) != n {
				t.Errorf("%s by %d: %d", path, size, len(got))
			}
			query := "?"
			if strings.Contains(path, "?") {
				query = "&"
			}
			page := read[api.List[api.Job]](s.get(fmt.Sprintf("%s%slimit=%d", path, query, size)).is(200))
			if len(page.Items) != min(size, n) || (page.NextCursor == "") != (size >= n) {
				t.Errorf("%s by %d: %d, %q", path, size, len(page.Items), page.NextCursor)
			}
		}
	}
}
