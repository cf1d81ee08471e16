package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

func TestProgressText(t *testing.T) {
	for doc, want := range map[string]string{
		`null`: "", ``: "", `{"percent": 50}`: "50%", `{"percent": 12.5, "message": "of page 7"}`: "12.5% of page 7", `{"done": 3, "total": 8}`: "3/8",
		`"halfway"`: "halfway", `0.5`: "0.5", `{"rows":7}`: `{"rows":7}`, `[1,2]`: "[1,2]", `{"done": 3}`: `{"done": 3}`,
		`{"done":17,"of":100}`: "17%", `{"done": 2, "of": 3, "message": "pages"}`: "66% pages", `{"done": 29, "of": 100}`: "29%", `{"done": 3, "of": 0}`: `{"done": 3, "of": 0}`,
		`{"percent":"abc"}`: "abc", `{"percent": null}`: `{"percent": null}`, `{"percent": 50, "message": 7}`: "50%", `{"done": "x", "total": 8}`: `{"done": "x", "total": 8}`,
	} {
		if got := progressText(json.RawMessage(doc)); got != want {
			t.Errorf("%s is %q, want %q", doc, got, want)
		}
	}
}

// TestListsShowProgress: a job that reported progress has a column for it in all lists of jobs and executions.
func TestListsShowProgress(t *testing.T) {
	s := startServer(t)
	s.must("type put report")
	s.must("job create report")
	for _, line := range []string{"job list", "job runs report", "execution show report"} {
		if out := s.must(line); strings.Contains(out, "PROGRESS") {
			t.Errorf("%s has an empty column:\n%s", line, out)
		}
	}
	a := &app{environment: environment{now: nil, getenv: func(name string) string { return map[string]string{"ROTA_DATA": s.data}[name] }}}
	claimed, _, err := fetch[api.Claimed](context.Background(), a, newPost("/claim", map[string]any{"worker": "w", "types": []string{"report"}, "limit": 1, "wait": "1s"}))
	if err != nil || len(claimed.Items) != 1 {
		t.Fatalf("%+v, %v", claimed, err)
	}
	item := claimed.Items[0]
	_, err = a.call(context.Background(), newPost("/extend", map[string]any{"items": []any{
		map[string]any{"run_id": item.RunID, "job_id": item.Job.ID, "lease_token": item.LeaseToken, "progress": map[string]int{"percent": 50}},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"job list", "job", "job runs report", "execution list", "execution show report", "job show report"} {
		if out := s.must(line); !strings.Contains(out, "50%") || !strings.Contains(strings.ToLower(out), "progress") {
			t.Errorf("%s does not show it:\n%s", line, out)
		}
	}
}
