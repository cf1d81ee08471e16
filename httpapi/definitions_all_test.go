package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/engine"
)

// sampleDocument is a document with every kind of definition, in the form of an export.
const sampleDocument = `{
	"version": 1,
	"types": {
		"mail": {"description": "sends", "paused": true, "max_retries": 5, "backoff": "1m30s", "backoff_max": "1h", "jitter": 0.25, "timeout": "0s",
			"schema": {"properties": {"n": {"maximum": 12345678901234567890, "type": "integer"}, "to": {"type": "string"}}, "type": "object"}},
		"plain": {"paused": false}
	},
	"templates": {
		"digest": {"type": "mail", "description": "d", "state": "ACTIVE", "owner": "admin", "default_params": {"a": {"c": 1.0, "d": 1e3}, "n": 12345678901234567890, "to": "all"},
			"priority": -7, "concurrency_key": "tenant", "unique_for": "48h", "max_retries": 0},
		"old": {"type": "plain", "state": "ARCHIVED", "owner": "admin"},
		"plain": {"type": "plain", "state": "ACTIVE", "owner": "admin"}
	},
	"schedules": {
		"a-last": {"template": "plain", "state": "ENABLED", "owner": "admin", "cron": "0 5 * * *", "timezone": "UTC", "depends_on": ["beat", "z-first"]},
		"beat": {"template": "plain", "state": "ENABLED", "owner": "admin", "every": "7m0.25s", "anchor": "2026-01-02T03:04:05.678901Z"},
		"digest": {"template": "digest", "description": "e", "state": "PAUSED", "owner": "admin", "cron": "30 2 * * *", "timezone": "Europe/Berlin", "starts_at": "2026-01-01T00:00:00Z",
			"ends_at": "2099-01-01T00:00:00Z", "scopes": [{"kind": "team", "id": "x"}, {"kind": "user", "ids": ["7", "8"]}], "param_overrides": {"n": 2},
			"priority": 3, "timeout": "30s", "catch_up": "all", "overlap": "skip", "class": "QUORUM_REQUIRED",
			"partition": {"strategy": "SHARD_SET", "shards": ["018f2c4e-0000-7000-8000-000000000007", "018f2c4e-0000-7000-8000-000000000008"]}},
		"from": {"template": "plain", "state": "DISABLED", "owner": "admin", "every": "1h", "starts_at": "2026-01-01T00:00:00Z"},
		"old": {"template": "old", "state": "DISABLED", "owner": "admin", "cron": "0 3 * * *", "timezone": "UTC"},
		"once": {"template": "plain", "state": "ENABLED", "owner": "admin", "at": "2099-01-01T12:00:00Z", "on_completion": "drop"},
		"z-first": {"template": "plain", "state": "ENABLED", "owner": "admin", "cron": "0 4 * * *", "timezone": "UTC"}
	},
	"limits": {"global": 50, "types": {"mail": {"concurrency": 5, "rate": "100/1m"}}, "keys": {"tenant": 2}, "each_key": {"tenant:*": 1}, "each_key_of_type": {"mail": 2}}
}`

// compact removes insignificant space from a JSON document.
func compact(t testing.TB, text string) string {
	t.Helper()
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		t.Fatal(err)
	}
	return string(rota.EncodeSpec(raw))
}

func (s *server) definitions() string {
	s.Helper()
	return strings.TrimSpace(s.get("definitions?secrets=true").is(200).text)
}

func (s *server) importDocument(text string) api.DefinitionsPut {
	s.Helper()
	return read[api.DefinitionsPut](s.send("PUT", "definitions", text).is(200))
}

func (s *server) dryRun(text string) api.DefinitionsPut {
	s.Helper()
	before := s.dump()
	would := read[api.DefinitionsPut](s.send("PUT", "definitions?dry_run=true", text).is(200))
	if s.dump() != before {
		s.Error("a dry run changes something")
	}
	return would
}

// counts summarizes the result of an import.
func counts(p api.DefinitionsPut) string {
	return fmt.Sprintf("%d created, %d changed, %d unchanged, %d left out", p.Created, p.Changed, p.Unchanged, p.LeftOut)
}

func itemOf(p api.DefinitionsPut, kind, name string) api.DefinitionChange {
	at := slices.IndexFunc(p.Items, func(i api.DefinitionChange) bool { return i.Kind == kind && i.Name == name })
	if at < 0 {
		return api.DefinitionChange{}
	}
	return p.Items[at]
}

func TestDefinitionsExportEqualsImport(t *testing.T) {
	s := newServer(t)
	if got := s.definitions(); got != `{"version":1}` {
		t.Error("an empty server exports", got)
	}
	if would := s.dryRun(sampleDocument); counts(would) != "12 created, 1 changed, 0 unchanged, 0 left out" || !would.DryRun || would.Steps != 1 {
		t.Errorf("%+v", would)
	}
	if put := s.importDocument(sampleDocument); counts(put) != "12 created, 1 changed, 0 unchanged, 0 left out" {
		t.Errorf("%+v", put)
	}
	if got, want := s.definitions(), compact(t, sampleDocument); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	before := s.dump()
	for range 2 {
		if again := s.importDocument(s.definitions()); counts(again) != "0 created, 0 changed, 13 unchanged, 0 left out" {
			t.Errorf("%+v", again)
		}
	}
	if would := s.dryRun(s.definitions()); counts(would) != "0 created, 0 changed, 13 unchanged, 0 left out" || would.Steps != 0 {
		t.Errorf("%+v", would)
	}
	if after := s.dump(); after != before { // including versions, next fire times and the audit
		t.Errorf("a repeated import changed the store:\n%s\n%s", before, after)
	}
}

// TestDefinitionsImportKeepsIntervalAnchor checks that the fire times of an interval do not shift when
// it is imported.
func TestDefinitionsImportKeepsIntervalAnchor(t *testing.T) {
	s := newServer(t)
	s.importDocument(sampleDocument)
	beat := read[api.Schedule](s.get("schedules/beat").is(200))
	anchor := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	every := 7*time.Minute + 250*time.Millisecond
	if next := beat.NextFireAt.Time; next.Sub(anchor)%every != 0 || !next.After(time.Now()) || next.After(time.Now().Add(every)) {
		t.Errorf("it fires next at %s", next)
	}
	// Another anchor does not move an existing schedule.
	moved := `{"schedules": {"beat": {"template": "plain", "every": "7m0.25s", "anchor": "2026-01-02T03:00:00Z"}}}`
	if put := s.importDocument(moved); counts(put) != "0 created, 0 changed, 1 unchanged, 0 left out" || !strings.Contains(fmt.Sprint(put.Items[0].Notes), "keeps its anchor 2026-01-02T03:04:05.678901Z") {
		t.Errorf("%+v", put)
	}
	// Another interval without an anchor counts from now; the same interval keeps its anchor.
	s.post("schedules/beat/pause", nil).is(200)
	s.importDocument(`{"schedules": {"beat": {"template": "plain", "every": "7m0.25s", "description": "d"}}}`)
	if got := read[api.Definitions](s.get("definitions")).Schedules["beat"]; !got.Anchor.Equal(anchor) || got.State != "PAUSED" || got.Description != "d" {
		t.Errorf("%+v", got)
	}
	s.importDocument(`{"schedules": {"beat": {"template": "plain", "every": "8m"}}}`)
	if got := read[api.Definitions](s.get("definitions")).Schedules["beat"]; time.Since(got.Anchor.Time) > time.Minute {
		t.Errorf("%+v", got)
	}
}

// TestDefinitionsDryRunListsChangedFields also checks that definitions that the document omits stay,
// while omitted fields of a definition return to their defaults.
func TestDefinitionsDryRunListsChangedFields(t *testing.T) {
	s := newServer(t)
	s.importDocument(sampleDocument)
	change := `{
		"types": {"mail": {"max_retries": 6}},
		"templates": {"plain": {"type": "plain", "default_params": {"x": 1}}, "new": {"type": "plain"}},
		"schedules": {"digest": {"template": "digest", "cron": "30 2 * * *", "timezone": "Europe/Berlin", "state": "ENABLED"}, "beat": {"template": "plain", "every": "7m0.25s"}},
		"limits": {"keys": {"tenant": 2}}
	}`
	would := s.dryRun(change)
	if counts(would) != "1 created, 4 changed, 1 unchanged, 0 left out" {
		t.Errorf("%+v", would)
	}
	for _, row := range []struct{ kind, name, change, fields string }{
		{"type", "mail", "changed", "backoff backoff_max description jitter max_retries schema timeout"},
		{"template", "plain", "changed", "default_params"},
		{"template", "new", "created", ""},
		{"schedule", "beat", "unchanged", ""},
		{"schedule", "digest", "changed", "catch_up class description ends_at overlap param_overrides partition priority scopes starts_at state timeout"},
		{"limits", "", "changed", "each_key each_key_of_type global types"},
	} {
		if got := itemOf(would, row.kind, row.name); got.Change != row.change || strings.Join(got.Fields, " ") != row.fields {
			t.Errorf("%s %s: %+v", row.kind, row.name, got)
		}
	}
	if put := s.importDocument(change); counts(put) != counts(would) || put.DryRun {
		t.Errorf("%+v", put)
	}
	now := read[api.Definitions](s.get("definitions").is(200))
	if mail := now.Types["mail"]; *mail.MaxRetries != 6 || mail.Timeout != nil || mail.Schema != nil || !*mail.Paused {
		t.Errorf("%+v", mail)
	}
	if len(now.Schedules) != 7 || now.Schedules["digest"].State != "ENABLED" || now.Schedules["digest"].CatchUp != "" || now.Limits.Global != 0 || len(now.Limits.Types) != 0 {
		t.Errorf("%+v", now)
	}
}

func TestDefinitionsImportIgnoresKeyOrderAndSpace(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("templates", `{"name": "t", "type": "a", "default_params": {"b":  1.0, "a": {"z": [1, 2], "y": "\u0041"}}}`).is(201)
	for text, want := range map[string]string{
		`{"a": {"y": "A", "z": [1, 2]}, "b": 1.0}`: "unchanged",
		`{"a": {"y": "A", "z": [2, 1]}, "b": 1.0}`: "changed",
		`{"a": {"y": "A", "z": [1, 2]}, "b": 1}`:   "changed", // a handler may distinguish them
	} {
		if got := s.dryRun(`{"templates": {"t": {"type": "a", "default_params": ` + text + `}}}`); got.Items[0].Change != want {
			t.Errorf("%s is %s", text, got.Items[0].Change)
		}
	}
}

// TestDefinitionsImportOrdersDependencies checks that names and the stored dependencies do not matter.
func TestDefinitionsImportOrdersDependencies(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("templates", `{"name": "t", "type": "a"}`).is(201)
	cron := func(on ...string) string {
		return fmt.Sprintf(`{"template": "t", "cron": "0 3 * * *", "depends_on": %s}`, rota.EncodeSpec(on))
	}
	chain := `{"schedules": {"a": ` + cron("b") + `, "b": ` + cron("c", "d") + `, "c": ` + cron("d") + `, "d": ` + cron() + `}}`
	if put := s.importDocument(chain); put.Created != 4 {
		t.Errorf("%+v", put)
	}
	// Reversed: d → c → b → a. Each change alone would make a cycle.
	if put := s.importDocument(`{"schedules": {"d": ` + cron("c") + `, "c": ` + cron("b") + `, "b": ` + cron("a") + `, "a": ` + cron() + `}}`); put.Changed != 4 {
		t.Errorf("%+v", put)
	}
	// Through a schedule that the document does not name: now d → c → b → a, then b → d through c.
	if put := s.importDocument(`{"schedules": {"d": ` + cron() + `, "b": ` + cron() + `, "a": ` + cron("c") + `}}`); put.Changed != 3 {
		t.Errorf("%+v", put)
	}
	before := s.dump()
	p := s.send("PUT", "definitions", `{"schedules": {"b": `+cron("a")+`}}`).problem(422, "invalid")
	if p.Errors[0].Field != "schedules.b.depends_on" || !strings.Contains(p.Detail, "makes a cycle: b → a → c → b") {
		t.Errorf("%+v", p)
	}
	p = s.send("PUT", "definitions", `{"schedules": {"x": `+cron("y")+`, "y": `+cron("z")+`, "z": `+cron("y")+`}}`).problem(422, "invalid")
	if !strings.Contains(p.Detail, "makes a cycle: y → z → y") {
		t.Errorf("%+v", p)
	}
	p = s.send("PUT", "definitions", `{"schedules": {"x": `+cron("nobody")+`}}`).problem(422, "invalid")
	if p.Errors[0].Field != "schedules.x.depends_on" || !strings.Contains(p.Detail, "there is no schedule nobody") {
		t.Errorf("%+v", p)
	}
	if s.dump() != before {
		t.Error("something changed")
	}
}

// TestDefinitionsImportRefusesLongDependencyChain checks both name orders, and a chain that is partly
// stored. A chain of the maximum length is accepted.
func TestDefinitionsImportRefusesLongDependencyChain(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("templates", `{"name": "t", "type": "a"}`).is(201)
	chain := func(from, to int, name func(int) string) string {
		var d strings.Builder
		for i := from; i < to; i++ {
			on := ""
			if i > 0 {
				on = fmt.Sprintf(`, "depends_on": [%q]`, name(i-1))
			}
			fmt.Fprintf(&d, `%s%q: {"template": "t", "cron": "0 3 * * *"%s}`, strings.Repeat(",", min(i-from, 1)), name(i), on)
		}
		return `{"schedules": {` + d.String() + `}}`
	}
	up := func(i int) string { return fmt.Sprintf("s%05d", i) }
	down := func(i int) string { return fmt.Sprintf("s%05d", 99_999-i) }
	refuses := func(document, field string) {
		t.Helper()
		p := s.send("PUT", "definitions", document).problem(422, "invalid")
		if !strings.HasSuffix(p.Errors[0].Field, ".depends_on") || !strings.Contains(p.Errors[0].Reason, field+" ends a chain of more than 1000 schedules") {
			t.Errorf("%+v", p)
		}
	}
	before := s.dump()
	refuses(chain(0, 20_000, up), up(1_000))
	refuses(chain(0, 1_001, down), down(1_000))
	if s.dump() != before {
		t.Error("something changed")
	}
	if put := s.importDocument(chain(0, 1_000, up)); put.Created != 1_000 {
		t.Error(counts(put))
	}
	refuses(chain(1_000, 1_001, up), up(1_000))
}

// putExpiredSchedule stores a schedule whose times have passed, as of a time when they had not.
func (s *server) putExpiredSchedule(name string, spec rota.ScheduleSpec) {
	s.Helper()
	then := time.Now().Add(-48 * time.Hour)
	command, err := rota.Declare(rota.NewMeta(""), name, spec, then)
	if err != nil {
		s.Fatal(err)
	}
	results, err := s.store.Apply(s.Context(), rota.Batch{Now: then, Commands: []rota.Command{command}})
	if err != nil || results[0].Err != nil {
		s.Fatal(err, results[0].Err)
	}
}

// TestDefinitionsImportSkipsExpiredSchedules checks that the notes name the reason and that other
// definitions are still imported.
func TestDefinitionsImportSkipsExpiredSchedules(t *testing.T) {
	s, other := newServer(t), newServer(t)
	s.declare("a")
	s.post("templates", `{"name": "t", "type": "a"}`).is(201)
	day := time.Now().Add(-24 * time.Hour)
	s.putExpiredSchedule("once", rota.ScheduleSpec{Template: "t", At: day})
	s.putExpiredSchedule("ended", rota.ScheduleSpec{Template: "t", Every: time.Hour, EndsAt: day})
	s.post("schedules", `{"name": "still", "template": "t", "cron": "0 3 * * *"}`).is(201)
	document := s.definitions()
	if put := s.importDocument(document); put.Unchanged != 5 {
		t.Errorf("import of its own export: %+v", put)
	}
	put := other.importDocument(document)
	if counts(put) != "3 created, 0 changed, 0 unchanged, 2 left out" {
		t.Errorf("%+v", put)
	}
	if notes := fmt.Sprint(itemOf(put, "schedule", "once").Notes, itemOf(put, "schedule", "ended").Notes); !strings.Contains(notes, "its only fire time, ") ||
		!strings.Contains(notes, "its ends_at, ") || !strings.Contains(notes, "it is not created") {
		t.Error(notes)
	}
	other.get("schedules/once").is(404)
	other.get("schedules/still").is(200)

	// An expired schedule stays expired, and its description can still change.
	s.post("schedules/once/pause", nil).is(200)
	put = s.importDocument(`{"schedules": {"once": {"template": "t", "at": "` + day.UTC().Format(time.RFC3339Nano) + `", "state": "ENABLED", "description": "d"}}}`)
	if counts(put) != "0 created, 1 changed, 0 unchanged, 0 left out" || !strings.Contains(fmt.Sprint(put.Items[0].Notes), "its state stays PAUSED") {
		t.Errorf("%+v", put)
	}
	put = s.importDocument(`{"schedules": {"still": {"template": "t", "at": "2020-01-01T00:00:00Z"}}}`)
	if counts(put) != "0 created, 0 changed, 0 unchanged, 1 left out" || !strings.Contains(fmt.Sprint(put.Items[0].Notes), "the stored schedule is unchanged") {
		t.Errorf("%+v", put)
	}
	p := other.send("PUT", "definitions", `{"schedules": {"once": {"template": "t", "at": "2020-01-01T00:00:00Z"}, "after": {"template": "t", "every": "1h", "depends_on": ["once"]}}}`).problem(422, "invalid")
	if p.Errors[0].Field != "schedules.after.depends_on" || !strings.Contains(p.Detail, "its time has passed") {
		t.Errorf("%+v", p)
	}
}

// TestDefinitionsImportSchedulesOfArchivedTemplate checks that schedules are declared before their
// template is archived, or while it is unarchived.
func TestDefinitionsImportSchedulesOfArchivedTemplate(t *testing.T) {
	s := newServer(t)
	s.importDocument(sampleDocument)
	if got := read[api.Template](s.get("templates/old").is(200)); got.State != "ARCHIVED" {
		t.Errorf("%+v", got)
	}
	put := s.importDocument(`{"schedules": {"old": {"template": "old", "cron": "0 4 * * *"}, "old2": {"template": "old", "cron": "0 4 * * *", "state": "DISABLED"}}}`)
	if counts(put) != "1 created, 1 changed, 0 unchanged, 0 left out" {
		t.Errorf("%+v", put)
	}
	if got := read[api.Template](s.get("templates/old").is(200)); got.State != "ARCHIVED" {
		t.Errorf("%+v", got)
	}
	if got := read[api.Schedule](s.get("schedules/old").is(200)); got.State != "DISABLED" || got.Cron != "0 4 * * *" {
		t.Errorf("%+v", got)
	}
	p := s.send("PUT", "definitions", `{"schedules": {"old": {"template": "old", "cron": "0 4 * * *", "state": "ENABLED"}}}`).problem(422, "invalid")
	if p.Errors[0].Field != "schedules.old.state" || !strings.Contains(p.Detail, "template old is archived") {
		t.Errorf("%+v", p)
	}
	put = s.importDocument(`{"templates": {"old": {"type": "plain", "state": "active"}, "plain": {"type": "plain", "state": "ARCHIVED"}},
		"schedules": {"old": {"template": "old", "cron": "0 4 * * *", "state": "ENABLED"}}}`)
	if counts(put) != "0 created, 3 changed, 0 unchanged, 0 left out" {
		t.Errorf("%+v", put)
	}
	if got := read[api.Schedule](s.get("schedules/z-first").is(200)); got.State != "DISABLED" || got.Reason == "" {
		t.Errorf("%+v", got)
	}
}

func TestDefinitionsExcludeBuiltinTypes(t *testing.T) {
	s := newServer(t, withEngine(t))
	if got := s.definitions(); got != `{"version":1,"types":{"chatty":{"paused":false}}}` {
		t.Error("built-in types are exported:", got)
	}
	s.post("types/noop/pause", nil).is(200)
	paused := s.definitions()
	if paused != `{"version":1,"types":{"chatty":{"paused":false},"noop":{"paused":true}}}` {
		t.Error(paused)
	}
	s.post("types/noop/resume", nil).is(200)
	if put := s.importDocument(paused); counts(put) != "0 created, 1 changed, 1 unchanged, 0 left out" {
		t.Errorf("%+v", put)
	}
	noop := read[api.Type](s.get("types/noop").is(200))
	if !noop.Paused || noop.Description == "" {
		t.Errorf("%+v", noop)
	}
	p := s.send("PUT", "definitions", `{"types": {"noop": {"max_retries": 7}}}`).problem(422, "invalid")
	if p.Errors[0].Field != "types.noop" || !strings.Contains(p.Detail, "built in") {
		t.Errorf("%+v", p)
	}
	put := s.importDocument(`{"types": {"chatty": {"max_retries": 7}}, "templates": {"t": {"type": "noop"}}}`)
	if counts(put) != "1 created, 0 changed, 1 unchanged, 0 left out" || !strings.Contains(fmt.Sprint(put.Items[0].Notes), "declares it itself") {
		t.Errorf("%+v", put)
	}
	reg := engine.NewRegistry()
	engine.Builtins(reg)
	for _, name := range reg.Types() {
		if !rota.InternalType(name) && strings.Contains(s.definitions(), `"`+name+`":{"desc`) {
			t.Errorf("the built-in type %s is exported", name)
		}
	}
}

// openedDefinitions exports all definitions, and opens the secrets of webhooks, which have to be sealed.
func (s *server) openedDefinitions() string {
	s.Helper()
	text := s.definitions()
	exported := read[api.Definitions](s.get("definitions?secrets=true").is(200))
	open := func(template string, hooks []api.WebhookDefinition) {
		for _, h := range hooks {
			text = strings.ReplaceAll(text, h.Secret, s.opened(template, &rota.Webhook{URL: h.URL, Secret: h.Secret}))
		}
	}
	open("", exported.Webhooks)
	for name, d := range exported.Templates {
		open(name, d.Webhooks)
	}
	return text
}

// TestDefinitionsExportSecretsOnlyOnRequest also checks that an import without secrets keeps the
// stored ones.
func TestDefinitionsExportSecretsOnlyOnRequest(t *testing.T) {
	s, other := newServer(t), newServer(t)
	document := `{"version":1,"types":{"a":{"paused":false}},"templates":{"t":{"type":"a","state":"ACTIVE","owner":"admin",` +
		`"webhooks":[{"url":"https://example.com/t","events":["job.dead"],"secret":"hush-t"}]}},` +
		`"webhooks":[{"url":"https://example.com/b","secret":"hush-b"},{"url":"https://example.com/a","events":["job.failed","schedule.missed"],"secret":"hush-a"}]}`
	if put := s.importDocument(document); counts(put) != "2 created, 1 changed, 0 unchanged, 0 left out" {
		t.Errorf("%+v", put)
	}
	if got := s.openedDefinitions(); got != document {
		t.Errorf("got  %s\nwant %s", got, document)
	}
	bare := strings.TrimSpace(s.get("definitions").is(200).text)
	if strings.Contains(bare, "hush") || bare != strings.NewReplacer(`,"secret":"hush-t"`, "", `,"secret":"hush-b"`, "", `,"secret":"hush-a"`, "").Replace(document) {
		t.Error(bare)
	}
	before := s.dump()
	if put := s.importDocument(bare); counts(put) != "0 created, 0 changed, 3 unchanged, 0 left out" || s.dump() != before || s.openedDefinitions() != document {
		t.Errorf("an import without secrets removed them: %+v %s", put, s.openedDefinitions())
	}
	p := other.send("PUT", "definitions", bare).problem(422, "invalid")
	if len(p.Errors) < 2 || p.Errors[0].Field != "templates.t.webhooks[0].secret" || !strings.Contains(p.Hint, "export with secrets") {
		t.Errorf("%+v", p)
	}
	other.importDocument(document)
	if got := other.openedDefinitions(); got != document {
		t.Errorf("got  %s\nwant %s", got, document)
	}
	if would := s.dryRun(`{"templates": {"t": {"type": "a", "webhooks": [{"url": "https://example.com/t", "events": ["job.dead"], "secret": "new"}]}}, "webhooks": []}`); would.Changed != 2 {
		t.Errorf("%+v", would)
	}
	s.importDocument(`{"webhooks": []}`)
	if got := s.definitions(); strings.Contains(got, "hush-b") {
		t.Error(got)
	}
}

// TestInvalidDefinitionsNameFieldsAndChangeNothing checks that the error lists everything that is
// invalid.
func TestInvalidDefinitionsNameFieldsAndChangeNothing(t *testing.T) {
	s := newServer(t)
	s.importDocument(sampleDocument)
	before := s.dump()
	for _, row := range []struct{ text, field, reason string }{
		{`{"version": 2}`, "version", "supports version 1"},
		{`{"kinds": {}}`, "kinds", "is not a field of this request"},
		{`{"schedule": {}}`, "schedule", "did you mean schedules?"},
		{`{"schedules": {"s": {"template": "plain", "cron": "0 3 * * *", "crn": 1}}}`, "schedules.s.crn", "did you mean cron?"},
		{`{"schedules": {"s": {"template": "plain", "every": 5}}}`, "schedules.s.every", "is not a duration"},
		{`{"schedules": {"s": {"template": "plain", "every": "0s"}}}`, "schedules.s.every", "is 0s; allowed are"},
		{`{"schedules": {"s": {"template": "plain", "every": "1000000000h"}}}`, "schedules.s.every", "is too long"},
		{`{"templates": {"t": {"type": "mail", "priority": 1e9}}}`, "templates.t.priority", "is not an integer; allowed are -1000000 to 1000000"},
		{`{"types": {"t": {"max_retries": 99999999999999999999}}}`, "types.t.max_retries", "allowed are 0 to 1000"},
		{`{"schedules": {"s": {"template": "plain", "every": "5m", "scopes": [{"kind": "user", "id": 7}]}}}`, "schedules.s.scopes[0].id", "is not a string"},
		{`{"schedules": {"s": {"template": "plain", "every": "5m"}, "s": {"template": "plain", "every": "5m"}}}`, "schedules.s", "is given twice"},
		{`{"schedules": {"s": {"template": "plain"}}}`, "schedules.s.cron", "none of cron, at and every"},
		{`{"schedules": {"s": {"template": "plain", "cron": "61 * * * *"}}}`, "schedules.s.cron", "out of range"},
		{`{"schedules": {"s": {"template": "plain", "cron": "* * * * *", "timezone": "berlin"}}}`, "schedules.s.timezone", "not a known time zone"},
		{`{"schedules": {"s": {"template": "plain", "cron": "* * * * *", "state": "sleepy"}}}`, "schedules.s.state", "must be ENABLED"},
		{`{"schedules": {"s": {"template": "plain", "cron": "* * * * *", "anchor": "2026-01-01T00:00:00Z"}}}`, "schedules.s.anchor", "only every has an anchor"},
		{`{"schedules": {"s": {"template": "plain", "every": "5m", "starts_at": "2026-01-01T00:00:00Z", "anchor": "2026-01-01T00:00:00Z"}}}`, "schedules.s.anchor", "counts from starts_at"},
		{`{"schedules": {"s": {"template": "nobody", "every": "5m"}}}`, "schedules.s.template", "there is no template nobody"},
		{`{"schedules": {"s": {"every": "5m"}}}`, "schedules.s.template", "is empty"},
		{`{"schedules": {"a b": {"template": "plain", "every": "5m"}}}`, "schedules.a b", ""},
		{`{"schedules": {"": {"template": "plain", "every": "5m"}}}`, "schedules.", "is empty"},
		{`{"schedules": {"s": {"template": "digest", "every": "5m", "param_overrides": {"to": 7}}}}`, "schedules.s.param_overrides.to", "text"},
		{`{"templates": {"t": {}}}`, "templates.t.type", "is empty"},
		{`{"templates": {"t": {"type": "nobody"}}}`, "templates.t.type", "is not declared"},
		{`{"templates": {"t": {"type": "rota.webhook"}}}`, "templates.t.type", "an internal type of Rota"},
		{`{"templates": {"t": {"type": "plain", "state": "GONE"}}}`, "templates.t.state", "must be ACTIVE or ARCHIVED"},
		{`{"templates": {"t": {"type": "plain", "params": {}}}}`, "templates.t.params", "did you mean default_params?"},
		{`{"templates": {"t": {"type": "plain", "priority": 9999999}}}`, "templates.t.priority", ""},
		{`{"templates": {"t": {"type": "plain", "webhooks": [{"url": "https://example.com/"}]}}}`, "templates.t.webhooks[0].secret", "is missing, and there is no stored webhook with this address"},
		{`{"templates": {"t": {"type": "plain", "webhooks": [{"url": "x", "secret": "s"}]}}}`, "templates.t.webhooks[0].url", "is not an address"},
		{`{"webhooks": [{"url": "https://example.com/"}]}`, "webhooks[0].secret", "is missing, and there is no stored webhook with this address"},
		{`{"webhooks": [{"url": "https://example.com/", "secret": "a", "events": ["job.lost"]}]}`, "webhooks[0].events[0]", "is not an event of this webhook"},
		{`{"types": {"t": {"schema": {"type": "nonsense"}}}}`, "types.t.schema.type", ""},
		{`{"types": {"t": {"schema": {"anyOf": [{"$ref": "#"}]}}}}`, "types.t.schema.anyOf[0].$ref", "refers back to itself for the same value"},
		{`{"types": {"t": {"max_retries": -1}}}`, "types.t.max_retries", ""},
		{`{"types": {"rota.webhook": {}}}`, "types.rota.webhook", "is reserved"},
		{`{"types": {"noop": {"timeout": "1s"}}}`, "types.noop", "built in"},
		{`{"limits": {"types": {"nobody": {"concurrency": 1}}}}`, "limits.types.nobody", "is not declared"},
		{`{"limits": {"types": {"mail": {"rate": "fast"}}}}`, "limits.types.mail.rate", "is not a rate"},
		{`{"limits": {"global": -1}}`, "limits.global", ""},
		{`{"limits": {"keys": {"k": 0}}}`, "limits.keys.k", ""},
		{`{"limits": {"each_key": {"k": 1}}}`, "limits.each_key", "use keys for one key"},
		{`{"limits": {"each_key_of_type": {"nobody": 1}}}`, "limits.each_key_of_type.nobody", "is not declared"},
	} {
		for _, query := range []string{"", "?dry_run=true"} {
			p := s.send("PUT", "definitions"+query, row.text).problem(422, "invalid")
			at := slices.IndexFunc(p.Errors, func(e api.FieldError) bool { return e.Field == row.field })
			if at < 0 || !strings.Contains(p.Errors[at].Reason, row.reason) {
				t.Errorf("%s\nis refused with %+v", row.text, p)
			}
		}
	}
	p := s.send("PUT", "definitions", `{"types": {"t": {"max_retries": -1}}, "templates": {"t": {"type": "nobody"}}, "schedules": {"s": {"template": "none", "every": "5m"}}}`).problem(422, "invalid")
	if len(p.Errors) != 3 {
		t.Errorf("not all errors are listed: %+v", p)
	}
	p = s.send("PUT", "definitions", `{"types": {"t": {"max_retries": -1}}, "templates": {"t": {"type": "t"}}, "schedules": {"s": {"template": "t", "every": "5m"}}}`).problem(422, "invalid")
	if len(p.Errors) != 1 {
		t.Errorf("an error that follows from another is listed too: %+v", p)
	}
	s.send("PUT", "definitions?dry_run=perhaps", `{}`).problem(400, "invalid")
	s.get("definitions?secrets=perhaps").problem(400, "invalid")
	if s.dump() != before {
		t.Error("something changed")
	}
}

// TestDefinitionsImportIsAtomic checks that an error of the rules has the path of its definition and
// that nothing is written.
func TestDefinitionsImportIsAtomic(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	half := strings.Repeat("x", 600<<10)
	before := s.dump()
	p := s.send("PUT", "definitions", `{"templates": {"t": {"type": "a", "default_params": {"a": "`+half+`"}}, "u": {"type": "a"}},
		"schedules": {"s": {"template": "t", "every": "1h", "param_overrides": {"b": "`+half+`"}}, "r": {"template": "u", "every": "1h"}}}`).problem(422, "invalid")
	if p.Errors[0].Field != "schedules.s.param_overrides" || !strings.Contains(p.Detail, "together with those of template t") {
		t.Errorf("%+v", p)
	}
	if s.dump() != before {
		t.Error("something changed")
	}
}

// TestDefinitionsImportRepeatedWithKeyAppliesOnce checks that a repeated request returns the same
// response even if the definitions have changed since.
func TestDefinitionsImportRepeatedWithKeyAppliesOnce(t *testing.T) {
	s := newServer(t)
	s.declare("b")
	s.post("templates", `{"name": "plain", "type": "b"}`).is(201)
	first := s.send("PUT", "definitions", sampleDocument, "Idempotency-Key", "k").is(200)
	after := s.dump()
	if second := s.send("PUT", "definitions", sampleDocument, "Idempotency-Key", "k").is(200); second.text != first.text {
		t.Errorf("%s\n%s", first.text, second.text)
	}
	if s.dump() != after {
		t.Error("the import was applied twice")
	}
	s.send("PATCH", "schedules/beat", `{"description": "changed since"}`).is(200)
	s.send("PUT", "definitions", sampleDocument, "Idempotency-Key", "k").is(200)
	if got := read[api.Schedule](s.get("schedules/beat").is(200)); got.Description != "changed since" {
		t.Error("a repeated request overwrote a later change")
	}
	s.send("PUT", "definitions", `{}`, "Idempotency-Key", "k").problem(409, "conflict")
}

// TestConcurrentDefinitionsImportsStayConsistent checks that concurrent imports are atomic and that an
// export is consistent.
func TestConcurrentDefinitionsImportsStayConsistent(t *testing.T) {
	s := newServer(t)
	document := func(n int) string {
		return fmt.Sprintf(`{"types": {"a": {"description": "%[1]d"}}, "templates": {"t": {"type": "a", "description": "%[1]d"}, "u": {"type": "a", "description": "%[1]d"}},
			"schedules": {"s": {"template": "t", "every": "1h", "description": "%[1]d"}}}`, n)
	}
	s.importDocument(document(0))
	stop := make(chan struct{})
	var all, writers sync.WaitGroup
	for n := range 2 {
		writers.Go(func() {
			for i := range 25 {
				if a := s.send("PUT", "definitions", document(1+n*100+i)); a.status != 200 && a.status != 503 {
					t.Error(a.text)
				}
			}
		})
	}
	reads := 0
	all.Go(func() {
		for {
			if a := s.get("definitions"); a.status != 503 {
				d := read[api.Definitions](a.is(200))
				said := []string{d.Types["a"].Description, d.Templates["t"].Description, d.Templates["u"].Description, d.Schedules["s"].Description}
				if len(slices.Compact(slices.Clone(said))) != 1 {
					t.Errorf("the export mixes several documents: %v", said)
				}
				reads++
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(stop)
	all.Wait()
	if reads == 0 {
		t.Error("nothing could be read")
	}
}

func TestLargeDefinitionsImportTakesSeveralSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("creates 5,000 definitions")
	}
	s := newServer(t)
	var d strings.Builder
	d.WriteString(`{"types": {"a": {}}, "templates": {"t": {"type": "a"}}, "schedules": {`)
	const many = 5_000
	for i := range many {
		depends := ""
		if i > 0 && i%10 == 0 {
			depends = fmt.Sprintf(`, "depends_on": ["s%05d"]`, i-10)
		}
		fmt.Fprintf(&d, `%s"s%05d": {"template": "t", "cron": "0 3 * * *"%s}`, strings.Repeat(",", min(i, 1)), i, depends)
	}
	document := d.String() + `}}`
	began := time.Now()
	if would := s.dryRun(document); would.Steps != 11 || would.Created != many+2 {
		t.Errorf("%s in %d steps", counts(would), would.Steps)
	}
	t.Log("compared in", time.Since(began))
	began = time.Now()
	if put := s.importDocument(document); put.Created != many+2 {
		t.Error(counts(put))
	}
	t.Log("written in", time.Since(began))
	began = time.Now()
	document = s.definitions()
	t.Log("read in", time.Since(began))
	if put := s.importDocument(document); put.Unchanged != many+2 {
		t.Error(counts(put))
	}
}
