package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// auditSeqs returns the sequence numbers of the audit, read in pages of a size.
func (s *server) auditSeqs(query string, size int) (seqs []int64) {
	s.Helper()
	for cursor := ""; ; {
		page := read[api.List[api.AuditEntry]](s.get(fmt.Sprintf("audit?limit=%d%s&cursor=%s", size, query, cursor)).is(200))
		for _, e := range page.Items {
			seqs = append(seqs, e.Seq)
		}
		if cursor = string(page.NextCursor); cursor == "" {
			return seqs
		}
		if len(page.Items) != size {
			s.Fatalf("a page of %d has %d", size, len(page.Items))
		}
	}
}

// TestAuditWhileGrowingListsNewestFirst lists the audit repeatedly while it grows, with various page
// sizes.
func TestAuditWhileGrowingListsNewestFirst(t *testing.T) {
	s := newServer(t)
	if got := s.get("audit").is(200).text; got != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("an empty audit: %s", got)
	}
	var ascending []int64
	for n := range 20 {
		s.declare(fmt.Sprint("type", n))
		ascending = append(ascending, int64(n+1))
		if n%3 == 1 { // sometimes several entries are added between two reads
			continue
		}
		descending := slices.Clone(ascending)
		slices.Reverse(descending)
		if got := s.auditSeqs("", n/2+1); !slices.Equal(got, descending) {
			t.Errorf("of %d: %v", n+1, got)
		}
	}
	if got := s.auditSeqs("&order=asc", 7); !slices.Equal(got, ascending) {
		t.Errorf("ascending: %v", got)
	}
	last := read[api.List[api.AuditEntry]](s.get("audit?limit=1").is(200))
	if last.Items[0].Subject != "type type19" {
		t.Errorf("%+v", last)
	}
	s.get("audit?order=random").problem(400, "invalid")
	if p := s.get("audit?order=asc&cursor="+string(last.NextCursor)).problem(400, "invalid"); !strings.Contains(p.Detail, "another list") {
		t.Errorf("%+v", p)
	}
}

// TestAuditOnNewServerFindsLastEntry lists an existing audit with a server that has not read it yet.
func TestAuditOnNewServerFindsLastEntry(t *testing.T) {
	s := newServer(t)
	for n := 1; n <= 17; n++ {
		s.declare(fmt.Sprint("type", n))
		other := newSecondServer(s)
		if got := other.auditSeqs("", 100); len(got) != n || got[0] != int64(n) {
			t.Errorf("of %d: %v", n, got)
		}
	}
}
