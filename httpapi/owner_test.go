package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// owners returns the owners of the template and the schedule of a name, "-" for one that does not exist.
func (s *server) owners(name string) string {
	s.Helper()
	text := []string{"-", "-"}
	for i, path := range []string{"templates/", "schedules/"} {
		if a := s.get(path + name); a.status == 200 {
			text[i] = string(read[struct{ Owner api.Text }](a).Owner)
		}
	}
	return strings.Join(text, " ")
}

// wantOwners compares the owners of the template and the schedule of a name.
func (s *server) wantOwners(name, want string) {
	s.Helper()
	if got := s.owners(name); got != want {
		s.Errorf("template and schedule %s belong to %q, not to %q", name, got, want)
	}
}

const ownedDocument = `{"version":1,"types":{"a":{"paused":false}},` +
	`"templates":{"both":{"type":"a","state":"ACTIVE","owner":"own"},"gone":{"type":"a","state":"ARCHIVED","owner":"own"},"mine":{"type":"a","state":"ACTIVE","owner":"admin"}},` +
	`"schedules":{"both":{"template":"both","state":"ENABLED","owner":"ada","cron":"0 3 * * *","timezone":"UTC"},"gone":{"template":"gone","state":"DISABLED","owner":"ada","cron":"0 3 * * *","timezone":"UTC"}}}`

// TestDefinitionsKeepTheirOwners imports a document as admin and exports it. The jobs run with the rights of the owner of their template.
func TestDefinitionsKeepTheirOwners(t *testing.T) {
	s := newServer(t)
	s.user("own", rota.ScopeSession)
	s.user("ada", rota.ScopeSession)
	if put := s.importDocument(ownedDocument); put.Created != 6 || fmt.Sprint(put.Items) != fmt.Sprint(s.withoutNotes(put)) {
		t.Errorf("%+v", put)
	}
	if got := s.definitions(); got != ownedDocument {
		t.Errorf("got  %s\nwant %s", got, ownedDocument)
	}
	s.mayExecuteBoth("ada")
	if made := read[api.Triggered](s.post("schedules/both/trigger", nil).is(201)); made.Items[0].Owner != "own" {
		t.Errorf("the job runs with the rights of %q", made.Items[0].Owner)
	}
	before := s.dump()
	if put := s.importDocument(ownedDocument); put.Unchanged != 6 || s.dump() != before {
		t.Errorf("a repeated import changed the store: %+v", put)
	}
}

// mayExecuteBoth grants EXECUTE JOB on the definitions called both.
func (s *server) mayExecuteBoth(users ...string) {
	s.Helper()
	s.applyAll(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: users, Job: "both", Privileges: []rota.Privilege{rota.ExecuteJob}})
}

func (s *server) withoutNotes(put api.DefinitionsPut) (items []api.DefinitionChange) {
	for _, item := range put.Items {
		item.Notes = nil
		items = append(items, item)
	}
	return items
}

// TestDefinitionsImportChangesOwners changes the owners of a template and of a schedule of its name, each alone and with other fields.
func TestDefinitionsImportChangesOwners(t *testing.T) {
	s := newServer(t)
	s.user("own", rota.ScopeSession)
	s.user("ada", rota.ScopeSession)
	s.importDocument(ownedDocument)
	s.mayExecuteBoth("own", "ada") // a schedule runs the template of another owner only then
	next := read[api.Schedule](s.get("schedules/both")).NextFireAt
	for _, row := range []struct{ document, fields, owners string }{
		{`{"templates": {"both": {"type": "a", "owner": "ada"}}}`, "owner", "ada ada"},
		{`{"schedules": {"both": {"template": "both", "cron": "0 3 * * *", "owner": "own"}}}`, "owner", "ada own"},
		{`{"templates": {"both": {"type": "a", "owner": "admin", "priority": 3}}}`, "owner priority", "admin own"},
		{`{"schedules": {"both": {"template": "both", "cron": "0 3 * * *", "owner": "admin", "priority": 3}}}`, "owner priority", "admin admin"},
		{`{"templates": {"both": {"type": "a", "priority": 4}}}`, "priority", "admin admin"},
	} {
		would := s.dryRun(row.document)
		if would.Changed != 1 || strings.Join(would.Items[0].Fields, " ") != row.fields {
			t.Errorf("%s: %+v", row.document, would)
		}
		if put := s.importDocument(row.document); put.Changed != 1 {
			t.Errorf("%s: %+v", row.document, put)
		}
		s.wantOwners("both", row.owners)
	}
	if again := read[api.Schedule](s.get("schedules/both")).NextFireAt; again != next {
		t.Errorf("the next fire moved from %s to %s", next, again)
	}
}

// TestDefinitionsWithoutOwners imports a document of an earlier version: what exists keeps its owner, what is new belongs to its importer.
func TestDefinitionsWithoutOwners(t *testing.T) {
	s := newServer(t)
	s.user("own", rota.ScopeSession)
	s.user("ada", rota.ScopeSession)
	root, _ := s.user("root2", rota.ScopeSession)
	s.applyAll(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"root2"}, Privileges: []rota.Privilege{rota.Admin}})
	s.importDocument(ownedDocument)
	bare := strings.NewReplacer(`,"owner":"own"`, "", `,"owner":"ada"`, "", `,"owner":"admin"`, "").Replace(ownedDocument)
	if put := s.importDocument(bare); put.Unchanged != 6 {
		t.Errorf("%+v", put)
	}
	s.wantOwners("both", "own ada")
	document := `{"templates": {"t": {"type": "a"}}, "schedules": {"t": {"template": "t", "every": "1h"}}}`
	for _, query := range []string{"?dry_run=true", ""} {
		put := read[api.DefinitionsPut](s.send("PUT", "definitions"+query, document, root...).is(200))
		if notes := fmt.Sprint(put.Items[0].Notes, put.Items[1].Notes); notes != "[owner: root2 (not in the document)] [owner: root2 (not in the document)]" {
			t.Errorf("the notes are %s", notes)
		}
	}
	s.wantOwners("t", "root2 root2")
	put := read[api.DefinitionsPut](s.send("PUT", "definitions", `{"templates": {"u": {"type": "a", "owner": "admin"}}}`, root...).is(200))
	if len(put.Items[0].Notes) != 0 {
		t.Errorf("%+v", put)
	}
	s.wantOwners("u", "admin -")
}

// TestDefinitionsOfUnknownOwners refuses them, or gives them to the user that the request names. A role is no owner.
func TestDefinitionsOfUnknownOwners(t *testing.T) {
	s := newServer(t)
	s.user("ada", rota.ScopeSession)
	s.applyAll(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: "own", Kind: rota.KindRole})
	before := s.dump()
	for _, query := range []string{"", "?dry_run=true"} {
		p := s.send("PUT", "definitions"+query, ownedDocument).problem(422, "invalid")
		if len(p.Errors) != 2 || p.Errors[0].Field != "templates.both.owner" || p.Errors[0].Reason != "there is no user own" || !strings.Contains(p.Hint, "rota user create own") || !strings.Contains(p.Hint, "--owner") {
			t.Errorf("%+v", p)
		}
	}
	p := s.send("PUT", "definitions?owner=nobody", ownedDocument).problem(422, "invalid")
	if p.Errors[0].Field != "owner" || p.Errors[0].Reason != "there is no user nobody" {
		t.Errorf("%+v", p)
	}
	if s.dump() != before {
		t.Error("a refused import changed the store")
	}
	first := s.send("PUT", "definitions?owner=ada", ownedDocument, "Idempotency-Key", "k").is(200)
	s.wantOwners("both", "ada ada")
	s.wantOwners("mine", "admin -")
	if note := fmt.Sprint(itemOf(read[api.DefinitionsPut](first), "template", "both").Notes); note != "[owner: ada (there is no user own)]" {
		t.Error(note)
	}
	if again := s.send("PUT", "definitions?owner=ada", ownedDocument, "Idempotency-Key", "k").is(200); again.text != first.text {
		t.Errorf("a repeated request answers\n%s\nand the first\n%s", again.text, first.text)
	}
}

// TestDefinitionsImportOwnsInTheStepThatCreates imports more than one step. No definition of a user belongs to admin between two steps.
func TestDefinitionsImportOwnsInTheStepThatCreates(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.user("own", rota.ScopeSession)
	var b strings.Builder
	for i := range 301 { // two commands each, after the one of a type: the 500th and the 501st belong together
		fmt.Fprintf(&b, `,"t%03d":{"type":"a","owner":"own"}`, i)
	}
	document := `{"types":{"z":{}},"templates":{` + b.String()[1:] + `}}`
	if would := s.dryRun(document); would.Steps != 2 || would.Created != 302 {
		t.Errorf("%d steps, %d created", would.Steps, would.Created)
	}
	s.importDocument(document)
	times := map[string]string{}
	for _, name := range s.all("templates", 1000) {
		v := read[api.Template](s.get("templates/" + name))
		if v.Owner != "own" || v.CreatedAt != v.UpdatedAt {
			t.Errorf("template %s belongs to %s; created %s, changed %s", name, v.Owner, v.CreatedAt, v.UpdatedAt)
		}
		times[v.CreatedAt.String()] = name
	}
	if len(times) != 2 {
		t.Errorf("the templates were created in %d steps", len(times))
	}
}

// TestDefinitionsLeaveOutDroppedTemplates: the template of a dropped job has no owner, and an import of one of its name creates it.
func TestDefinitionsLeaveOutDroppedTemplates(t *testing.T) {
	s := newServer(t)
	s.user("own", rota.ScopeSession)
	s.user("ada", rota.ScopeSession)
	s.importDocument(ownedDocument)
	s.send("PATCH", "schedules/both", `{"owner": "own"}`).is(200)
	s.applyAll(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "both"})
	if v := read[api.Template](s.get("templates/both").is(200)); v.Owner != "" || v.State != "ARCHIVED" {
		t.Fatalf("%+v", v)
	}
	if got := s.definitions(); strings.Contains(got, "both") {
		t.Error(got)
	}
	document := `{"templates": {"both": {"type": "a", "owner": "ada"}}, "schedules": {"both": {"template": "both", "cron": "0 3 * * *"}}}`
	first := s.send("PUT", "definitions", document, "Idempotency-Key", "k").is(200)
	if put := read[api.DefinitionsPut](first); put.Created != 2 {
		t.Errorf("%+v", put)
	}
	if again := s.send("PUT", "definitions", document, "Idempotency-Key", "k").is(200); again.text != first.text {
		t.Errorf("a repeated request answers\n%s\nand the first\n%s", again.text, first.text)
	}
	s.wantOwners("both", "ada admin")
	if v := read[api.Template](s.get("templates/both").is(200)); v.State != "ACTIVE" {
		t.Errorf("%+v", v)
	}
}

// TestChangeOfOwner changes the owner of a template and of a schedule of its name, each alone.
func TestChangeOfOwner(t *testing.T) {
	s := newServer(t)
	own, _ := s.user("own", rota.ScopeSession)
	s.user("ada", rota.ScopeSession)
	s.importDocument(ownedDocument)
	tag := s.get("templates/both").header.Get("ETag")
	first := s.send("PATCH", "templates/both", `{"owner": "ada"}`, "If-Match", tag, "Idempotency-Key", "k").is(200)
	s.wantOwners("both", "ada ada")
	if again := s.send("PATCH", "templates/both", `{"owner": "ada"}`, "If-Match", tag, "Idempotency-Key", "k").is(200); again.text != first.text {
		t.Errorf("a repeated request answers %s", again.text)
	}
	s.send("PATCH", "templates/both", `{"owner": "own"}`, "If-Match", tag).is(412)
	if v := read[api.Schedule](s.send("PATCH", "schedules/both", `{"name": "both", "owner": "admin"}`).is(200)); v.Owner != "admin" {
		t.Errorf("%+v", v)
	}
	s.wantOwners("both", "ada admin")
	s.send("PATCH", "templates/mine", `{"owner": "own"}`).is(200)
	s.wantOwners("mine", "own -")
	for _, row := range []struct{ method, path, body, reason string }{
		{"PATCH", "templates/mine", `{"owner": "nobody"}`, "there is no user nobody"},
		{"PATCH", "schedules/both", `{"owner": "nobody"}`, "there is no user nobody"},
		{"PATCH", "templates/mine", `{"owner": null}`, "is null"},
		{"PATCH", "templates/mine", `{"owner": "ada", "priority": 1}`, "cannot be set here"},
		{"PATCH", "schedules/both", `{"owner": "ada", "cron": "0 4 * * *"}`, "cannot be set here"},
		{"POST", "templates", `{"name": "n", "type": "a", "owner": "ada"}`, "cannot be set here"},
		{"POST", "schedules", `{"name": "n", "template": "mine", "every": "1h", "owner": "ada"}`, "cannot be set here"},
		{"POST", "schedules", `{"name": "n", "type": "a", "every": "1h", "owner": "ada"}`, "cannot be set here"},
	} {
		if p := s.send(row.method, row.path, row.body).problem(422, "invalid"); p.Errors[0].Field != "owner" || !strings.Contains(p.Errors[0].Reason, row.reason) {
			t.Errorf("%s %s %s: %+v", row.method, row.path, row.body, p)
		}
	}
	s.send("PATCH", "templates/nothing", `{"owner": "ada"}`).is(404)
	s.send("PATCH", "schedules/mine", `{"owner": "ada"}`).is(404)
	if p := s.send("PATCH", "templates/mine", `{"owner": "admin"}`, own...).problem(403, "denied"); !strings.Contains(p.Detail, "ADMIN") {
		t.Errorf("an owner gives its template away: %+v", p)
	}
	s.wantOwners("mine", "own -")
}
