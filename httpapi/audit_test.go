package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/httpapi"
)

// audited are the numbers of the audit, as pages of a size list them.
func (s *server) audited(query string, size int) (numbers []int64) {
	s.Helper()
	for cursor := ""; ; {
		page := read[httpapi.List[httpapi.AuditEntry]](s.get(fmt.Sprintf("audit?limit=%d%s&cursor=%s", size, query, cursor)).is(200))
		for _, e := range page.Items {
			numbers = append(numbers, e.Seq)
		}
		if cursor = string(page.NextCursor); cursor == "" {
			return numbers
		}
		if len(page.Items) != size {
			s.Fatalf("a page of %d has %d", size, len(page.Items))
		}
	}
}

// TestTheAuditIsListedNewestFirst looks at it again and again while it grows, in
// pages that end anywhere.
func TestTheAuditIsListedNewestFirst(t *testing.T) {
	s := newServer(t)
	if got := s.get("audit").is(200).text; got != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("at first: %s", got)
	}
	var onward []int64
	for n := range 20 {
		s.declare(fmt.Sprint("type", n))
		onward = append(onward, int64(n+1))
		if n%3 == 1 { // now and then more than one comes between two looks
			continue
		}
		back := slices.Clone(onward)
		slices.Reverse(back)
		if got := s.audited("", n/2+1); !slices.Equal(got, back) {
			t.Errorf("of %d: %v", n+1, got)
		}
	}
	if got := s.audited("&order=asc", 7); !slices.Equal(got, onward) {
		t.Errorf("as written: %v", got)
	}
	last := read[httpapi.List[httpapi.AuditEntry]](s.get("audit?limit=1").is(200))
	if last.Items[0].Subject != "type type19" {
		t.Errorf("%+v", last)
	}
	s.get("audit?order=random").problem(400, "invalid")
	if p := s.get("audit?order=asc&cursor="+string(last.NextCursor)).problem(400, "invalid"); !strings.Contains(p.Detail, "another list") {
		t.Errorf("%+v", p)
	}
}

// TestAnAuditThatIsLongAlreadyIsListedByItsEnd asks a server that knows nothing
// of it yet.
func TestAnAuditThatIsLongAlreadyIsListedByItsEnd(t *testing.T) {
	s := newServer(t)
	for n := 1; n <= 17; n++ {
		s.declare(fmt.Sprint("type", n))
		other := newSecond(s)
		if got := other.audited("", 100); len(got) != n || got[0] != int64(n) {
			t.Errorf("of %d: %v", n, got)
		}
	}
}
