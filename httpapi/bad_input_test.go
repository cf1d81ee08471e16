package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestInvalidRequestNamesFieldAndChangesNothing checks status, code and field of every invalid
// request, and that the store stays unchanged.
func TestInvalidRequestNamesFieldAndChangesNothing(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.declareMail()
	job := s.enqueue(`{"type": "a"}`)
	other := s.enqueue(`{"type": "a"}`)
	s.post("users", `{"name": "bob"}`).is(201)
	s.post("roles", `{"name": "ops"}`).is(201)
	long := strings.Repeat("x", 600)
	secret := "hunter2hunter2"
	before := s.dump()
	for i, test := range []struct {
		method, path, body string
		status             int
		field              string // what errors names; empty: nothing in particular
	}{
		{"POST", "jobs", ``, 400, ""},
		{"POST", "jobs", `{`, 400, ""},
		{"POST", "jobs", `{"type": "a",}`, 400, ""},
		{"POST", "jobs", `not json at all`, 400, ""},
		{"POST", "jobs", "{\"type\": \"\xc3\x28\"}", 400, ""},
		{"POST", "jobs", `{"type": "a"}{"type": "a"}`, 400, ""},
		{"POST", "jobs", `[]`, 422, ""},
		{"POST", "jobs", `"a"`, 422, ""},
		{"POST", "jobs", `{}`, 422, "type"},
		{"POST", "jobs", `{"type": ""}`, 422, "type"},
		{"POST", "jobs", `{"type": 5}`, 422, "type"},
		{"POST", "jobs", `{"type": "a b"}`, 422, "type"},
		{"POST", "jobs", `{"type": "` + long + `"}`, 422, "type"},
		{"POST", "jobs", `{"type": "nobody"}`, 422, "type"},
		{"POST", "jobs", `{"type": "a", "colour": "red"}`, 422, "colour"},
		{"POST", "jobs", `{"type": "a", "Params": {}}`, 422, "Params"},
		{"POST", "jobs", `{"type": "a", "type": "a"}`, 422, "type"},
		{"POST", "jobs", `{"template": "nobody"}`, 422, "template"},
		{"POST", "jobs", `{"template": "t", "type": "mail"}`, 422, "type"},
		{"POST", "jobs", `{"type": "a", "params": []}`, 422, "params"},
		{"POST", "jobs", `{"type": "a", "params": "` + secret + `"}`, 422, "params"},
		{"POST", "jobs", `{"type": "mail", "params": {"to": ["` + secret + `"]}}`, 422, "params.to"},
		{"POST", "jobs", `{"type": "mail", "params": {}}`, 422, "params.to"},
		{"POST", "jobs", `{"type": "a", "params": {"x": "` + strings.Repeat("y", 1<<20) + `"}}`, 422, "params"},
		{"POST", "jobs", `{"type": "a", "params": {"x": "` + strings.Repeat("y", 2<<20) + `"}}`, 413, ""},
		{"POST", "jobs", `{"type": "a", "params": {"x": {"y": 1, "y": 2}}}`, 422, "params.x.y"},
		{"POST", "jobs", `{"type": "a", "params": {"x": ["\ud800"]}}`, 400, "params.x[0]"},
		{"POST", "jobs", `{"type": "a", "unique_key": "a\ud800"}`, 400, "unique_key"},
		{"POST", "jobs", `{"type": "a", "params": {"n": 1e999, "n": 1}, "name": "\ud83d \ude00"}`, 400, "name"},
		{"POST", "jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a", "scope_id": "\udc00"}]}`, 400, "jobs[1].scope_id"},
		{"POST", "jobs", `{"type": "a", "\ud800": 1}`, 400, ""},
		{"POST", "sql", `{"statement": "SELECT '\ud800'"}`, 400, "statement"},
		{"POST", "jobs", `{"type": "a", "params": {"n": 1e999}}`, 422, "params.n"},
		{"POST", "jobs", `{"template": "t", "params": {"x": 1, "x": 1}}`, 422, "params.x"},
		{"POST", "jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a", "params": {"x": 1, "x": 1}}]}`, 422, "jobs[1].params.x"},
		{"PATCH", "jobs/" + job, `{"params": {"n": 1e999}}`, 422, "params.n"},
		{"POST", "groups", `{"name": "g", "jobs": [{"type": "a", "params": {"x": 1, "x": 1}}]}`, 422, "jobs[0].params.x"},
		{"POST", "templates", `{"name": "odd", "type": "a", "default_params": {"x": 1, "x": 1}}`, 422, "default_params.x"},
		{"POST", "schedules", `{"name": "odd", "template": "t", "every": "1h", "param_overrides": {"n": 1e999}}`, 422, "param_overrides.n"},
		{"POST", "jobs", `{"type": "a", "priority": "high"}`, 422, "priority"},
		{"POST", "jobs", `{"type": "a", "priority": 1.5}`, 422, "priority"},
		{"POST", "jobs", `{"type": "a", "priority": 1000001}`, 422, "priority"},
		{"POST", "jobs", `{"type": "a", "priority": 99999999999999999999}`, 422, "priority"},
		{"POST", "jobs", `{"type": "a", "run_at": "tomorrow"}`, 422, "run_at"},
		{"POST", "jobs", `{"type": "a", "run_at": 1700000000}`, 422, "run_at"},
		{"POST", "jobs", `{"type": "a", "run_at": "1969-01-01T00:00:00Z"}`, 422, "run_at"},
		{"POST", "jobs", `{"type": "a", "delay": 60}`, 422, "delay"},
		{"POST", "jobs", `{"type": "a", "delay": "-5s"}`, 422, "delay"},
		{"POST", "jobs", `{"type": "a", "delay": "soon"}`, 422, "delay"},
		{"POST", "jobs", `{"type": "a", "delay": "5s", "run_at": "2099-01-01T00:00:00Z"}`, 422, "delay"},
		{"POST", "jobs", `{"type": "a", "unique_key": "` + long + `"}`, 422, "unique_key"},
		{"POST", "jobs", `{"type": "a", "unique_key": "a\u0000b"}`, 422, "unique_key"},
		{"POST", "jobs", `{"type": "a", "unique_for": "1h"}`, 422, "unique_for"},
		{"POST", "jobs", `{"type": "a", "max_retries": -1}`, 422, "max_retries"},
		{"POST", "jobs", `{"type": "a", "max_retries": 1001}`, 422, "max_retries"},
		{"POST", "jobs", `{"type": "a", "backoff": "-1s"}`, 422, "backoff"},
		{"POST", "jobs", `{"type": "a", "backoff": 5}`, 422, "backoff"},
		{"POST", "jobs", `{"type": "a", "jitter": 2}`, 422, "jitter"},
		{"POST", "jobs", `{"type": "a", "jitter": "much"}`, 422, "jitter"},
		{"POST", "jobs", `{"type": "a", "timeout": true}`, 422, "timeout"},
		{"POST", "jobs", `{"type": "a", "scope_kind": "user"}`, 422, "scope_id"},
		{"POST", "jobs", `{"type": "a", "scope_id": "7"}`, 422, "scope_kind"},
		{"POST", "jobs", `{"type": "a", "plan_time": "x"}`, 422, "plan_time"},
		{"POST", "jobs", `{"type": "a", "class": "gpu"}`, 422, "class"},
		{"POST", "jobs", `{"type": "a", "partition": "p"}`, 422, "partition"},
		{"POST", "jobs", `{"type": "a", "webhooks": []}`, 422, "webhooks"},
		{"POST", "jobs?dry=true", `{"type": "a"}`, 400, "dry"},
		{"POST", "jobs/batch", `{}`, 422, "jobs"},
		{"POST", "jobs/batch", `{"jobs": []}`, 422, "jobs"},
		{"POST", "jobs/batch", `{"jobs": {"type": "a"}}`, 422, "jobs"},
		{"POST", "jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a", "priority": "x"}]}`, 422, "jobs[1].priority"},
		{"POST", "jobs/batch", `{"jobs": [{"type": "a"}, {}]}`, 422, "jobs[1].type"},
		{"POST", "jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a", "class": "x"}]}`, 422, "jobs[1].class"},
		{"POST", "jobs/batch", `{"jobs": [` + strings.Repeat(`{"type":"a"},`, 10_000) + `{"type":"a"}]}`, 422, "jobs"},
		{"POST", "jobs/" + job + "/move", `{}`, 422, "to"},
		{"POST", "jobs/" + job + "/move", `{"to": "middle"}`, 422, "to"},
		{"POST", "jobs/" + job + "/move", `{"to": "top", "before": "` + other + `"}`, 422, "to"},
		{"POST", "jobs/" + job + "/move", `{"before": "` + job + `"}`, 422, "before"},
		{"POST", "jobs/" + job + "/move", `{"after": "x"}`, 422, "after"},
		{"POST", "jobs/" + job + "/cancel", `{"reason": "` + strings.Repeat("r", 2000) + `"}`, 422, "reason"},
		{"POST", "jobs/" + job + "/cancel", `{"why": "x"}`, 422, "why"},
		{"POST", "jobs/" + job + "/retry", `{"why": "x"}`, 422, "why"},
		{"POST", "jobs/" + job + "/retry", `{"params": "x"}`, 422, "params"},
		{"POST", "jobs/" + job + "/run-again", `{"params": [1]}`, 422, "params"},
		{"POST", "jobs/" + job + "/run-again", `{"run_at": "2026-11-15T07:00:00Z"}`, 422, "run_at"},
		{"POST", "jobs/" + job + "/run-now", `{"params": {}}`, 422, "params"},
		{"POST", "jobs/retry", `{"type": "a", "params": 7}`, 422, "params"},
		{"POST", "jobs/cancel", `{"type": "a", "params": {}}`, 422, "params"},
		{"PATCH", "jobs/" + job, `{"run_at": "tomorrow"}`, 422, "run_at"},
		{"PATCH", "jobs/" + job, `{"run_at": "1960-01-01T00:00:00Z"}`, 422, "run_at"},
		{"PATCH", "jobs/" + job, `{"delay": "-1s"}`, 422, "delay"},
		{"PATCH", "jobs/" + job, `{"delay": "1h", "run_at": "2026-11-15T07:00:00Z"}`, 422, "delay"},
		{"PATCH", "jobs/" + job, `{"params": {}, "merge_params": {}}`, 422, "merge_params"},
		{"PATCH", "jobs/" + job, `{"merge_params": [1]}`, 422, "merge_params"},
		{"PATCH", "jobs/" + job, `{"type": "b"}`, 422, "type"},
		{"PATCH", "jobs/" + job, `{"priority": -1000001}`, 422, "priority"},
		{"PATCH", "jobs/" + job, `{"params": [1]}`, 422, "params"},
		{"POST", "templates", `{"type": "a"}`, 422, "name"},
		{"POST", "templates", `{"name": "n"}`, 422, "type"},
		{"POST", "templates", `{"name": "n", "type": "nobody"}`, 422, "type"},
		{"POST", "templates", `{"name": "a b", "type": "a"}`, 422, "name"},
		{"POST", "templates", `{"name": "n", "type": "a", "default_params": 5}`, 422, "default_params"},
		{"POST", "templates", `{"name": "n", "type": "a", "params": {}}`, 422, "params"},
		{"POST", "templates", `{"name": "n", "type": "a", "webhooks": [{"url": "x"}]}`, 422, "webhooks[0].url"},
		{"POST", "templates", `{"name": "n", "type": "a", "unique_for": "-1h"}`, 422, "unique_for"},
		{"POST", "templates", `{"name": "t", "type": "a"}`, 409, "name"},
		{"PATCH", "templates/t", `{"timeout": 7}`, 422, "timeout"},
		{"PATCH", "templates/t", `{"state": "ARCHIVED"}`, 422, "state"},
		{"POST", "schedules", `{"name": "n", "template": "t"}`, 422, "cron"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "every": "5m"}`, 422, "cron"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "61 * * * *"}`, 422, "cron"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "timezone": "Nowhere/City"}`, 422, "timezone"},
		{"POST", "schedules", `{"name": "n", "template": "t", "every": "5m", "timezone": "Mars/Olympus"}`, 422, "timezone"},
		{"POST", "schedules", `{"name": "n", "template": "t", "every": 300}`, 422, "every"},
		{"POST", "schedules", `{"name": "n", "template": "t", "every": "0s"}`, 422, "every"},
		{"POST", "schedules", `{"name": "n", "template": "t", "at": "2001-01-01T00:00:00Z"}`, 422, "at"},
		{"POST", "schedules", `{"name": "n", "template": "t", "every": "5m", "ends_at": "2001-01-01T00:00:00Z"}`, 422, "ends_at"},
		{"POST", "schedules", `{"name": "n", "cron": "* * * * *"}`, 422, "template"},
		{"POST", "schedules", `{"name": "n", "template": "nobody", "cron": "* * * * *"}`, 422, "template"},
		{"POST", "schedules", `{"template": "t", "cron": "* * * * *"}`, 422, "name"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "state": "sleepy"}`, 422, "state"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "overlap": "maybe"}`, 422, "overlap"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "depends_on": ["n"]}`, 422, "depends_on[0]"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "depends_on": ["nobody"]}`, 422, "depends_on"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "scopes": [{"kind": "u", "id": "1", "ids": ["2"]}]}`, 422, "scopes[0].ids"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "class": "x"}`, 422, "class"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "partition": {"strategy": "SOME"}}`, 422, "partition.strategy"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "partition": {"strategy": "SHARD_SET", "shards": ["eu"]}}`, 422, "partition.shards[0]"},
		{"POST", "schedules", `{"name": "n", "template": "t", "cron": "* * * * *", "param_overrides": "x"}`, 422, "param_overrides"},
		{"POST", "groups", `{"jobs": []}`, 422, "jobs"},
		{"POST", "groups", `{"mode": "ring", "jobs": [{"type": "a"}]}`, 422, "mode"},
		{"POST", "groups", `{"on_failure": "weep", "jobs": [{"type": "a"}]}`, 422, "on_failure"},
		{"POST", "groups", `{"jobs": [{"type": "a", "plan_time": "2026-01-01T00:00:00Z"}]}`, 422, "jobs[0].plan_time"},
		{"POST", "groups", `{"jobs": [{"type": "mail", "params": {"to": 1}}]}`, 422, "jobs[0].params.to"},
		{"PUT", "types/a%20b", `{}`, 422, "name"},
		{"PUT", "types/%2e", `{}`, 422, "name"},
		{"POST", "templates", `{"name": "..", "type": "a"}`, 422, "name"},
		{"POST", "schedules", `{"name": ".", "template": "t", "every": "1h"}`, 422, "name"},
		{"PUT", "definitions", `{"templates": {"..": {"type": "a"}}}`, 422, ""},
		{"POST", "sql", `{"statement": "CREATE JOB \"..\" SCHEDULE = EVERY 1 HOUR AS CALL a()"}`, 422, ""},
		{"PUT", "types/b", `{"schema": []}`, 422, "schema"},
		{"PUT", "types/b", `{"schema": {"type": 7}}`, 422, "schema.type"},
		{"PUT", "types/b", `{"paused": true}`, 422, "paused"},
		{"PUT", "types/b", `{"retries": 3}`, 422, "retries"},
		{"GET", "jobs?limit=0", ``, 400, "limit"},
		{"GET", "jobs?limit=1001", ``, 400, "limit"},
		{"GET", "jobs?limit=ten", ``, 400, "limit"},
		{"GET", "jobs?state=sleepy", ``, 400, "state"},
		{"GET", "jobs?state=", ``, 400, "state"},
		{"GET", "jobs?staet=queued", ``, 400, "staet"},
		{"GET", "jobs?type=a&type=b", ``, 400, "type"},
		{"GET", "jobs?type=", ``, 400, "type"},
		{"GET", "jobs?type=a%20b", ``, 400, "type"},
		{"GET", "jobs?group=x", ``, 400, "group"},
		{"GET", "jobs?id_prefix=01926a5", ``, 400, "id_prefix"},
		{"GET", "jobs?id_prefix=01926a5e7c3b", ``, 400, "id_prefix"},
		{"GET", "groups?id_prefix=", ``, 400, "id_prefix"},
		{"GET", "jobs?cursor=%ff", ``, 400, "cursor"},
		{"GET", "jobs?a%zz=1", ``, 400, ""},
		{"GET", "executions?state=queued", ``, 400, "state"},
		{"GET", "stats?verbose=1", ``, 400, "verbose"},
		{"POST", "users", `{}`, 422, "name"},
		{"POST", "users", `{"name": "a b"}`, 422, "name"},
		{"POST", "users", `{"name": "admin"}`, 422, "name"},
		{"POST", "users", `{"name": "rota_ci"}`, 422, "name"},
		{"POST", "users", `{"name": "ann", "password": ""}`, 422, "password"},
		{"POST", "users", `{"name": "ann", "password": "short"}`, 422, "password"},
		{"POST", "users", `{"name": "ann", "password": 7}`, 422, "password"},
		{"POST", "users", `{"name": "ann", "verifier": "` + secret + `"}`, 422, "verifier"},
		{"POST", "users", `{"name": "ann", "certificate": "` + long + `"}`, 422, "certificate"},
		{"POST", "users", `{"name": "bob"}`, 409, "name"},
		{"POST", "users", `{"name": "ops"}`, 409, "name"},
		{"PATCH", "users/bob", `{"password": "` + secret[:7] + `"}`, 422, "password"},
		{"PATCH", "users/bob", `{"name": "ann"}`, 422, "name"},
		{"PATCH", "users/nobody", `{"certificate": "x"}`, 404, ""},
		{"PATCH", "users/ops", `{"certificate": "x"}`, 409, "kind"},
		{"DELETE", "users/nobody", ``, 404, ""},
		{"DELETE", "users/ops", ``, 404, ""},
		{"DELETE", "users/admin", ``, 404, ""},
		{"GET", "users/admin", ``, 404, ""},
		{"GET", "roles/bob", ``, 404, ""},
		{"POST", "roles", `{}`, 422, "name"},
		{"POST", "roles", `{"name": "public"}`, 422, "name"},
		{"POST", "roles", `{"name": "bob"}`, 409, "name"},
		{"POST", "grants", `{"privileges": ["EXECUTE JOB"]}`, 422, "to"},
		{"POST", "grants", `{"to": ["bob"]}`, 422, "privileges"},
		{"POST", "grants", `{"privileges": ["FLY"], "to": ["bob"]}`, 422, "privileges[0]"},
		{"POST", "grants", `{"privileges": ["ADMIN"], "job": "t", "to": ["bob"]}`, 422, "privileges[0]"},
		{"POST", "grants", `{"privileges": ["ADMIN", "admin"], "to": ["bob"]}`, 422, "privileges[1]"},
		{"POST", "grants", `{"privileges": ["ADMIN"], "role": "ops", "to": ["bob"]}`, 422, "role"},
		{"POST", "grants", `{"privileges": ["EXECUTE JOB"], "job": "nobody", "to": ["bob"]}`, 404, ""},
		{"POST", "grants", `{"privileges": ["EXECUTE JOB"], "to": ["bob", "nobody"]}`, 404, ""},
		{"POST", "grants", `{"role": "nobody", "to": ["bob"]}`, 404, ""},
		{"POST", "grants", `{"role": "ops", "to": ["ops"]}`, 422, "role"},
		{"GET", "grants?user=nobody", ``, 404, ""},
		{"GET", "grants?user=", ``, 400, "user"},
		{"DELETE", "grants", ``, 400, "from"},
		{"DELETE", "grants?privilege=FLY&from=bob", ``, 400, "privilege[0]"},
		{"DELETE", "grants?privilege=ADMIN&from=", ``, 400, "from"},
		{"DELETE", "grants?privilege=ADMIN&job=&from=bob", ``, 400, "job"},
		{"DELETE", "grants?privilege=ADMIN&from=nobody", ``, 404, ""},
		{"PUT", "secrets/t/API_KEY", `{}`, 422, "value"},
		{"PUT", "secrets/t/API_KEY", `{"value": ""}`, 422, "value"},
		{"PUT", "secrets/t/API_KEY", `{"value": "?", "base64": true}`, 422, "value"},
		{"PUT", "secrets/t/1", `{"value": "x"}`, 422, "key"},
		{"PUT", "secrets/none/API_KEY", `{"value": "x"}`, 404, ""},
		{"GET", "secrets?template=a%20b", ``, 400, "template"},
		{"DELETE", "secrets/t/NONE", ``, 404, ""},
		{"POST", "tokens", `{}`, 422, "scope"},
		{"POST", "tokens", `{"scope": "root"}`, 422, "scope"},
		{"POST", "tokens", `{"scope": "read", "type": "a"}`, 422, "type"},
		{"POST", "tokens", `{"scope": "read", "user": "nobody"}`, 404, ""},
		{"POST", "tokens", `{"scope": "read", "user": "ops"}`, 404, ""},
		{"POST", "tokens", `{"scope": "read", "expires": "soon"}`, 422, "expires"},
		{"POST", "tokens", `{"scope": "read", "expires": "-1h"}`, 422, "expires"},
		{"POST", "tokens", `{"scope": "read", "expires": "9000d"}`, 422, "expires"},
		{"POST", "tokens", `{"scope": "read", "expires": "2001-01-01T00:00:00Z"}`, 422, "expires"},
		{"GET", "tokens?user=a%20b", ``, 400, "user"},
		{"GET", "tokens/k7m2p9qxw4ht", ``, 404, ""},
		{"GET", "tokens/%00", ``, 404, ""},
		{"DELETE", "tokens/k7m2p9qxw4ht", ``, 404, ""},
		{"DELETE", "tokens/x", ``, 404, ""},
		{"GET", "types/%00", ``, 404, ""},
		{"GET", "jobs/%2e%2e%2fetc", ``, 404, ""},
	} {
		var body any
		if test.method != "GET" {
			body = test.body
		}
		a := s.send(test.method, test.path, body)
		name := fmt.Sprintf("%d: %s %s %.90s", i, test.method, test.path, test.body)
		code := map[int]string{413: "too_large", 409: "conflict", 404: "not_found"}[test.status]
		if code == "" {
			code = "invalid"
		}
		if a.status != test.status {
			t.Errorf("%s: %d %.300s", name, a.status, a.text)
			continue
		}
		p := a.problem(test.status, code)
		fields := []string{}
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
			if e.Reason == "" {
				t.Errorf("%s: no reason: %+v", name, p)
			}
		}
		if test.field != "" && !slices.Contains(fields, test.field) || test.field == "" && len(fields) > 1 {
			t.Errorf("%s: the fields are %q: %.300s", name, fields, a.text)
		}
		if strings.Contains(a.text, secret) || len(a.text) > 2000 {
			t.Errorf("%s: the response repeats values of the request: %.300s", name, a.text)
		}
	}
	if after := s.dump(); after != before {
		t.Error("something changed")
	}
}

func TestMediaTypeOtherThanJSONIsRefused(t *testing.T) {
	s := newServerWithDefinitions(t)
	for given, status := range map[string]int{
		"application/json": 201, "application/json; charset=utf-8": 201, "APPLICATION/JSON": 201, "application/merge-patch+json": 201, "": 201,
		"text/plain": 415, "application/x-www-form-urlencoded": 415, "application/xml": 415, "json": 415,
	} {
		a := s.post("jobs", `{"type": "a"}`, "Content-Type", given).is(status)
		if status == 415 {
			a.problem(415, "unsupported_media_type")
		}
	}
	s.post("templates/t/archive", nil, "Content-Type", "text/plain").is(200)
}

// FuzzBodies sends arbitrary bodies to every path that accepts one. No body may cause a 5xx status.
func FuzzBodies(f *testing.F) {
	for i, w := range writeRequests() {
		f.Add(i, w.body)
	}
	f.Add(0, `{"schema": {"type": "object", "pattern": "("}}`)
	f.Add(15, `{"type": "a", "params": {"a": {"b": [1, null, "\ud800"]}}, "unique_key": "\u0000"}`)
	s := newServerWithDefinitions(f)
	f.Fuzz(func(t *testing.T, which int, body string) {
		all := writeRequests()
		w := all[((which%len(all))+len(all))%len(all)]
		path := strings.Replace(w.path, "{id}", "01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60", 1)
		if a := serveRequest(s.handler, w.method, "/api/v1/"+path, body); a.Code >= 500 {
			t.Fatalf("%s %s %q: %d %s", w.method, path, body, a.Code, a.Body)
		}
	})
}
