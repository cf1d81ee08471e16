package httpapi_test

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// TestListsByBeginningOfID: each prefix of an id, from 8 characters to the whole id, finds exactly the rows whose ids begin
// with it, over pages of any size.
func TestListsByBeginningOfID(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.declare("a")
	for range 3 {
		s.post("groups", `{"jobs": [{"type": "a"}, {"type": "a"}]}`).is(201)
		s.post("jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a"}]}`).is(201)
		s.post("direct", `{"type": "noop"}`).is(200)
	}
	for _, list := range []string{"jobs", "groups", "reservations"} {
		all := ids(s, list+"?limit=1000")
		if len(all) < 3 {
			t.Fatalf("%s has %d rows", list, len(all))
		}
		for _, id := range all {
			for _, n := range []int{8, 9, 13, 14, 18, 35, 36} {
				var want []string
				for _, other := range all {
					if strings.HasPrefix(other, id[:n]) {
						want = append(want, other)
					}
				}
				for _, limit := range []string{"1000", "1"} {
					if got := ids(s, list+"?id_prefix="+strings.ToUpper(id[:n])+"&limit="+limit); strings.Join(got, " ") != strings.Join(want, " ") {
						t.Errorf("%s of %s in pages of %s are\n%s, want\n%s", list, id[:n], limit, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
			}
		}
	}
	job := ids(s, "jobs")[0]
	if got := ids(s, "jobs?type=nosuch&id_prefix="+job); len(got) != 0 {
		t.Errorf("the other filters do not apply: %v", got)
	}
	if got := ids(s, "jobs?execution="+job+"&id_prefix=00000000"); len(got) != 0 {
		t.Errorf("the prefix does not apply within an execution: %v", got)
	}
}

// TestBeginningOfIDFindsWebhookDelivery: lists omit deliveries, but an id names one.
func TestBeginningOfIDFindsWebhookDelivery(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.send("PUT", "webhooks", `{"webhooks": [{"url": "https://example.com/hook", "events": ["job.enqueued"], "secret": "sssssssssssssssss"}]}`).is(200)
	s.enqueue(`{"type": "a"}`)
	delivery := ids(s, "jobs?type=rota.webhook")[0]
	if got := ids(s, "jobs?id_prefix="+delivery); len(got) != 1 || got[0] != delivery {
		t.Errorf("%s finds %v", delivery, got)
	}
}

// ids returns the ids of all pages of a list.
func ids(s *server, path string) (all []string) {
	for cursor := ""; ; {
		page := read[api.List[struct{ ID string }]](s.get(path + cursor).is(200))
		for _, item := range page.Items {
			all = append(all, item.ID)
		}
		if page.NextCursor == "" {
			return all
		}
		cursor = "&cursor=" + string(page.NextCursor)
	}
}
