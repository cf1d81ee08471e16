package node

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestMalformedReferencesToSecretsAreRefusedAtCreation: a job with one fails at each run, so no interface stores it. The refusal names the field
// and the remedy, and does not repeat the header, which may contain a password.
func TestMalformedReferencesToSecretsAreRefusedAtCreation(t *testing.T) {
	l := start(t, Config{Data: t.TempDir()})
	params := func(header string) string {
		return `{"url":"https://example.org/","headers":{"Authorization":` + jsonText(header) + `}}`
	}
	good := params("Bearer ${secret:TOKEN}")
	l.wantStatus(201, "POST", "/templates", `{"name":"call","type":"http","default_params":`+good+`}`)
	l.wantStatus(201, "POST", "/schedules", `{"name":"nightly","type":"http","every":"1000h","param_overrides":`+good+`}`)
	job := l.enqueue(`{"type":"http","delay":"10h","params":` + good + `}`)
	before := l.wantStatus(200, "GET", "/definitions", "")
	for header, reason := range map[string]string{
		"Bearer hunter2 ${secret:TOKEN": "has a reference to a secret without } at its end",
		"${secret:hunter2-x}":           "has a reference to a secret whose key contains characters other than letters, digits and _, or begins with a digit",
		"${secret:}":                    "has a reference to a secret whose key is empty",
	} {
		bad := params(header)
		statement := "ALTER JOB nightly SET WITH PARAMS '" + bad + "'"
		for _, c := range []struct{ method, path, body, field string }{
			{"POST", "/jobs", `{"type":"http","params":` + bad + `}`, "params.headers.Authorization"},
			{"POST", "/jobs", `{"template":"call","params":` + bad + `}`, "params.headers.Authorization"},
			{"PATCH", "/jobs/" + job.String(), `{"params":` + bad + `}`, "params.headers.Authorization"},
			{"POST", "/direct", `{"type":"http","params":` + bad + `}`, "params.headers.Authorization"},
			{"POST", "/templates", `{"name":"other","type":"http","default_params":` + bad + `}`, "default_params.headers.Authorization"},
			{"POST", "/templates", `{"name":"other","type":"http","default_params":{"headers":{"X-A":` + jsonText(header) + `}}}`, "default_params.headers.X-A"}, // without the URL
			{"PATCH", "/templates/call", `{"default_params":` + bad + `}`, "default_params.headers.Authorization"},
			{"POST", "/schedules", `{"name":"other","type":"http","every":"1h","param_overrides":` + bad + `}`, "default_params.headers.Authorization"},
			{"POST", "/schedules", `{"name":"other","template":"call","every":"1h","param_overrides":` + bad + `}`, "param_overrides.headers.Authorization"},
			{"PATCH", "/schedules/nightly", `{"param_overrides":` + bad + `}`, "param_overrides.headers.Authorization"},
			{"PUT", "/definitions", `{"templates":{"other":{"type":"http","default_params":` + bad + `}}}`, "templates.other.default_params.headers.Authorization"},
			{"PUT", "/definitions", `{"schedules":{"other":{"template":"call","every":"1h","param_overrides":` + bad + `}}}`, "schedules.other.param_overrides.headers.Authorization"},
			{"POST", "/sql", `{"statement":` + jsonText(statement) + `}`, "params.headers.Authorization"},
		} {
			response, text := l.request(c.method, "/api/v1"+c.path, c.body)
			var problem struct{ Detail string }
			if err := json.Unmarshal([]byte(text), &problem); err != nil || response.StatusCode/100 != 4 {
				t.Errorf("%s %s with %s: %d %s", c.method, c.path, header, response.StatusCode, text)
				continue
			}
			if !strings.Contains(problem.Detail, c.field+": "+reason+"; write ${secret:KEY} with the key of a secret of the template") || strings.Contains(text, "hunter2") {
				t.Errorf("%s %s with %s: %s\nwant %s: %s", c.method, c.path, header, text, c.field, reason)
			}
		}
	}
	if after := l.wantStatus(200, "GET", "/definitions", ""); after != before {
		t.Errorf("a refused request changed %s to %s", before, after)
	}
}
