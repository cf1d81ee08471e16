//go:build unix

package worker_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rotajobs/rota/worker/workertest"
)

// The test sends the requests of docs/workers.md in order, and compares the answers with the
// page.
func TestWorkersPageMatchesServer(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/workers.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile("(?s)\\*\\*`(PUT|POST) (/\\S+)`\\*\\*\n\n```json\n(.*?)```\n\n```json\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(calls) != 5 {
		t.Fatalf("the page has %d requests with answers, want 5", len(calls))
	}
	s := workertest.New(t)
	real := strings.NewReplacer()
	for _, call := range calls {
		method, path, request, want := call[1], call[2], call[3], call[4]
		if path == "/claim" {
			s.Enqueue("mail", workertest.Object{"to": "ada@example.org"}, nil)
		}
		var answer, shown any
		s.Must(method, path, json.RawMessage(real.Replace(request)), &answer)
		if err := json.Unmarshal([]byte(want), &shown); err != nil {
			t.Fatalf("%s: %v\n%s", path, err, want)
		}
		checkMatches(t, path, answer, shown)
		if path == "/claim" {
			item := answer.(map[string]any)["items"].([]any)[0].(map[string]any)
			real = strings.NewReplacer(
				"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61", item["run_id"].(string), "5f60718293a4b5c6d7e8f9000a1b2c3d", item["lease_token"].(string),
				"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60", item["job"].(map[string]any)["id"].(string),
			)
		}
	}
}

// checkMatches compares an answer with the page: it may have more fields. Ids and times
// differ.
func checkMatches(t *testing.T, at string, answer, shown any) {
	t.Helper()
	switch want := shown.(type) {
	case map[string]any:
		got, _ := answer.(map[string]any)
		for name, value := range want {
			if _, there := got[name]; !there {
				t.Errorf("%s.%s is not in the answer %v", at, name, answer)
				continue
			}
			checkMatches(t, at+"."+name, got[name], value)
		}
	case []any:
		got, _ := answer.([]any)
		if len(got) != len(want) {
			t.Errorf("%s has %d items, want %d", at, len(got), len(want))
			return
		}
		for i := range want {
			checkMatches(t, fmt.Sprintf("%s[%d]", at, i), got[i], want[i])
		}
	case string:
		if got, is := answer.(string); !is || !volatile.MatchString(want) && got != want {
			t.Errorf("%s is %v, want %q", at, answer, want)
		}
	default:
		if fmt.Sprint(answer) != fmt.Sprint(shown) {
			t.Errorf("%s is %v, want %v", at, answer, shown)
		}
	}
}

var volatile = regexp.MustCompile(`^(01926a5e-.*|5f607182.*|2026-11-15T.*)$`)
