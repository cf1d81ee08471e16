package diff_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rotajobs/rota/internal/diff"
)

func TestDocumentsShowsOldAndNewOfEachFieldThatDiffers(t *testing.T) {
	for _, one := range []struct{ name, was, is, want string }{
		{"nothing differs", `{"a":1}`, `{"a":1}`, ``},
		{"empty values are missing ones", `{"c":null,"d":{}}`, `{"a":{},"b":[],"c":"","d":{"x":1}}`, `{"d":{"old":{},"new":{"x":1}}}`},
		{"created with an empty value", ``, `{"a":1,"policy":{}}`, `{"a":{"old":null,"new":1}}`},
		{"one field", `{"a":1,"b":2}`, `{"a":1,"b":3}`, `{"b":{"old":2,"new":3}}`},
		{"added and removed", `{"a":1}`, `{"b":"<x>"}`, `{"a":{"old":1,"new":null},"b":{"old":null,"new":"<x>"}}`},
		{"created", ``, `{"a":{"b":1}}`, `{"a":{"old":null,"new":{"b":1}}}`},
		{"deleted", `{"a":[1]}`, ``, `{"a":{"old":[1],"new":null}}`},
	} {
		if got := string(diff.Documents([]byte(one.was), []byte(one.is))); got != one.want {
			t.Errorf("%s: %s, want %s", one.name, got, one.want)
		}
	}
}

// TestDocumentsLeavesSecretsOut checks that a changed secret is reported as changed, without its value.
func TestDocumentsLeavesSecretsOut(t *testing.T) {
	for _, one := range []struct{ name, was, is string }{
		{"a webhook", `{"webhooks":[{"url":"https://example.org","secret":"oldHUSH"}]}`, `{"webhooks":[{"url":"https://example.org","secret":"newHUSH"}]}`},
		{"a password in a DSN", `{"params":{"target":"postgres://ada:oldHUSH@db/x"}}`, `{"params":{"target":"postgres://ada:newHUSH@db/x"}}`},
		{"a param named for a secret", `{"params":{"api_key":"oldHUSH"}}`, `{"params":{"api_key":"newHUSH"}}`},
		{"a header of a request", `{"params":{"headers":{"X-Custom":"oldHUSH","Accept":"a/b"}}}`, `{"params":{"headers":{"X-Custom":"newHUSH","Accept":"a/b"}}}`},
		{"a header in a list", `{"steps":[{"headers":{"X-Custom":"oldHUSH"}}]}`, `{"steps":[{"headers":{"X-Custom":"newHUSH"}}]}`},
		{"a field that is a secret", `{"token":"oldHUSH"}`, `{"token":"newHUSH"}`},
	} {
		got := string(diff.Documents([]byte(one.was), []byte(one.is)))
		if strings.Contains(got, "HUSH") || !strings.Contains(got, "[hidden]") || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", one.name, got)
		}
	}
}

// TestDocumentsCutsLongValuesAndSaysSo checks the bound, also in the middle of a character.
func TestDocumentsCutsLongValuesAndSaysSo(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 9_000), strings.Repeat("é", 9_000), strings.Repeat("日", 9_000)} {
		is, _ := json.Marshal(map[string]any{"params": map[string]string{"body": text}})
		got := diff.Documents([]byte(`{"params":{}}`), is)
		if len(got) > 2*diff.ValueMax || !json.Valid(got) || !strings.Contains(string(got), "cut: the value has") {
			t.Errorf("%d bytes: %.200s", len(got), got)
		}
	}
}

// TestDocumentsLeavesVeryLongValuesOut checks that a value that is too long to be searched for secrets is
// not shown.
func TestDocumentsLeavesVeryLongValuesOut(t *testing.T) {
	is, _ := json.Marshal(map[string]any{"params": strings.Repeat("HUSH ", 20_000)})
	got := string(diff.Documents(nil, is))
	if want := `{"params":{"old":null,"new":"(left out: the value has 100002 bytes)"}}`; got != want {
		t.Errorf("%.200s", got)
	}
}
