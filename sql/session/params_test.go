package session_test

import (
	"strings"
	"testing"
)

func TestParamsThatReadersUnderstandDifferentlyAreRefused(t *testing.T) {
	b := newFixture(t)
	b.run(`CREATE JOB plain SCHEDULE = EVERY 1 HOUR AS 'SELECT 1'`)
	for text, member := range map[string]string{`{"a": {"b": 1, "b": 2}}`: "a.b", `{"a": "\ud800"}`: "a", `{"n": [1e999]}`: "n[0]"} {
		for _, statement := range []string{
			`CREATE JOB odd SCHEDULE = EVERY 1 HOUR WITH PARAMS '` + text + `' AS 'SELECT 1'`,
			`ALTER JOB plain SET WITH PARAMS '` + text + `'`,
		} {
			if got := b.run(statement); !strings.Contains(got, "22023") || !strings.Contains(got, "params."+member) {
				t.Errorf("%s\n\t%s", statement, got)
			}
		}
	}
}
