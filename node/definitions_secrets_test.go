package node

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (l *testNode) export() api.Definitions {
	l.t.Helper()
	var d api.Definitions
	if err := json.Unmarshal([]byte(l.wantStatus(200, "GET", "/definitions?secrets=true", "")), &d); err != nil {
		l.t.Fatal(err)
	}
	return d
}

func (l *testNode) importStatus(status int, d api.Definitions) string {
	l.t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.wantStatus(status, "PUT", "/definitions", string(text))
}

// TestExportedSecretsAreRestoredOnlyWhereTheirKeyIs exports sealed secrets, drops their definition, and restores them. Another
// installation, another template and another key refuse them, and then nothing is written.
func TestExportedSecretsAreRestoredOnlyWhereTheirKeyIs(t *testing.T) {
	dir := t.TempDir()
	l := start(t, Config{Data: dir, HTTPAllow: "127.0.0.0/8"})
	target, got := recordedHeader(t)
	receiver, signed := signedReceiver(t)
	l.wantStatus(201, "POST", "/schedules", `{"name":"call","type":"http","every":"1000h","max_retries":0,"param_overrides":{"url":`+jsonText(target.URL)+
		`,"headers":{"Authorization":"Bearer ${secret:TOKEN}"}}}`)
	l.wantStatus(200, "PATCH", "/templates/call", `{"webhooks":[{"url":`+jsonText(receiver.URL)+`,"events":["job.completed"],"secret":`+jsonText(testSecret)+`}]}`)
	l.wantStatus(200, "PUT", "/secrets/call/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	l.wantStatus(200, "PUT", "/secrets/call/OTHER", `{"value":"other value"}`)
	works := func() {
		t.Helper()
		l.wantStatus(201, "POST", "/schedules/call/trigger", "")
		if header := <-got; header != "Bearer "+testSecret {
			t.Fatalf("the header is %q", header)
		}
		wantSigned(t, signed)
	}
	works()

	if bare := l.wantStatus(200, "GET", "/definitions", ""); strings.Contains(bare, "sealed:") || strings.Contains(bare, "TOKEN\":") {
		t.Errorf("an export without secrets has %s", bare)
	}
	exported := l.export()
	if all := exported.Templates["call"].Secrets; len(all) != 2 || !strings.HasPrefix(all["TOKEN"], "sealed:v1:") {
		t.Fatalf("%v", all)
	}
	if put := l.importStatus(200, exported); !strings.Contains(put, `"changed":0`) || !strings.Contains(put, `"created":0`) {
		t.Errorf("the same document changes something: %s", put)
	}

	l.wantStatus(200, "PUT", "/secrets/call/OTHER", `{"value":"a later value"}`)
	if put := l.wantStatus(200, "PUT", "/definitions?dry_run=true", mustJSON(exported)); !strings.Contains(put, `"fields":["secrets"]`) {
		t.Errorf("a dry run shows %s", put)
	}
	l.wantStatus(200, "POST", "/sql", `{"statement":"DROP JOB call"}`)
	if list := l.wantStatus(200, "GET", "/secrets", ""); strings.Contains(list, "TOKEN") {
		t.Fatalf("the dropped definition left %s", list)
	}
	l.importStatus(200, exported)
	works()
	if again := l.export(); again.Templates["call"].Secrets["TOKEN"] != exported.Templates["call"].Secrets["TOKEN"] {
		t.Errorf("restored %v", again.Templates["call"].Secrets)
	}

	// Moved to another key or template.
	sealed := exported.Templates["call"].Secrets["TOKEN"]
	_, keyed, _ := strings.Cut(sealed, "v1:")
	fingerprint, ciphertext, _ := strings.Cut(keyed, ":")
	refused := func(n *testNode, d api.Definitions, texts ...string) {
		t.Helper()
		before := n.wantStatus(200, "GET", "/definitions?secrets=true", "")
		problem := n.importStatus(422, d)
		for _, text := range texts {
			if !strings.Contains(problem, text) {
				t.Errorf("the refusal does not contain %q: %s", text, problem)
			}
		}
		if strings.Contains(problem, ciphertext) {
			t.Errorf("the refusal shows a ciphertext: %s", problem)
		}
		if after := n.wantStatus(200, "GET", "/definitions?secrets=true", ""); after != before {
			t.Errorf("the refused import changed %s to %s", before, after)
		}
	}
	fresh := func(name string, change func(d *api.TemplateDefinition)) api.Definitions {
		d := exported.Templates["call"]
		d.Webhooks, d.Secrets = nil, nil
		change(&d)
		return api.Definitions{Templates: map[string]api.TemplateDefinition{name: d, "aaa": {Type: "noop"}}}
	}
	refused(l, fresh("call", func(d *api.TemplateDefinition) { d.Secrets = map[string]string{"MOVED": sealed} }), "templates.call.secrets.MOVED", "sealed for something else")
	refused(l, fresh("copy", func(d *api.TemplateDefinition) { d.Secrets = map[string]string{"TOKEN": sealed} }), "templates.copy.secrets.TOKEN", "sealed for something else")
	refused(l, fresh("copy", func(d *api.TemplateDefinition) { d.Webhooks = exported.Templates["call"].Webhooks }), "templates.copy.webhooks[0].secret", "sealed for something else")
	refused(l, fresh("copy", func(d *api.TemplateDefinition) { d.Secrets = map[string]string{"TOKEN": "plain text"} }), "templates.copy.secrets.TOKEN", "is not a sealed value")
	refused(l, fresh("copy", func(d *api.TemplateDefinition) { d.Secrets = map[string]string{"9": sealed} }), "templates.copy.secrets.9", "begins with a digit")

	// Another installation, with a key of its own and without any.
	other := start(t, Config{Data: t.TempDir()})
	for range 2 {
		refused(other, exported, "templates.call", fingerprint, "which this server does not have")
		one := fresh("call", func(d *api.TemplateDefinition) { d.Secrets = map[string]string{"TOKEN": sealed} })
		refused(other, one, "secret call/TOKEN is sealed with the key "+fingerprint, "rota secret set call/TOKEN")
		other.wantStatus(201, "POST", "/templates", `{"name":"x`+other.enqueue(`{"type":"noop"}`).String()+`","type":"noop"}`)
		other.wantStatus(200, "PUT", "/webhooks", `{"webhooks":[{"url":"https://example.org/","events":["node.leader"],"secret":"its own"}]}`)
	}

	// After a rotation, an earlier export cannot be opened any more, and a new one can.
	l.wantStatus(200, "POST", "/secrets/rotate", "")
	if put := l.importStatus(200, l.export()); !strings.Contains(put, `"changed":0`) {
		t.Error(put)
	}
	refused(l, exported, fingerprint)
	works()
}

// TestImportRefusesSecretsThatNoProgramCanHave: a secret of another type, or of a server that accepted it, would be a variable of a program.
func TestImportRefusesSecretsThatNoProgramCanHave(t *testing.T) {
	l := start(t, Config{Data: t.TempDir()})
	l.wantStatus(201, "POST", "/schedules", `{"name":"program","type":"noop","every":"1000h"}`)
	for key, value := range map[string]string{"LD_PRELOAD": "hunter2", "rota_x": "hunter2", "BINARY": "hunter2\x00", "PASSWORD": "hunter2"} {
		l.wantStatus(200, "PUT", "/secrets/program/"+key, `{"value":`+jsonText(value)+`}`)
	}
	exported := l.export()
	importing := func(typ string, keys ...string) api.Definitions {
		d := api.TemplateDefinition{Type: typ, DefaultParams: exported.Templates["program"].DefaultParams, Secrets: map[string]string{}}
		for _, key := range keys {
			d.Secrets[key] = exported.Templates["program"].Secrets[key]
		}
		return api.Definitions{Templates: map[string]api.TemplateDefinition{"program": d, "aaa": {Type: "noop"}}}
	}
	for _, exists := range []bool{true, false} {
		if !exists {
			l.wantStatus(200, "POST", "/sql", `{"statement":"DROP JOB program"}`)
		}
		for key, reason := range map[string]string{
			"LD_PRELOAD": "LD_PRELOAD cannot be a variable of a program: it decides what code a program loads", "rota_x": "names with ROTA_ are reserved for Rota",
			"BINARY": "contains a NUL character, which no environment variable can contain",
		} {
			problem := l.importStatus(422, importing("exec", "PASSWORD", key))
			if !strings.Contains(problem, "templates.program.secrets."+key+": ") || !strings.Contains(problem, reason) ||
				!strings.Contains(problem, "remove it from the document, and set it afterwards with rota secret set program/KEY: ") || strings.Contains(problem, "hunter2") {
				t.Errorf("exists %v, %s: %s", exists, key, problem)
			}
			if after := l.export(); after.Templates["aaa"].Type != "" || exists && after.Templates["program"].Type != "noop" {
				t.Errorf("the refused import wrote %s", mustJSON(after))
			}
		}
	}
	l.importStatus(200, importing("exec", "PASSWORD"))
	l.importStatus(200, importing("noop", "PASSWORD", "LD_PRELOAD", "rota_x", "BINARY"))
	l.importStatus(200, importing("exec"))
	if put := l.importStatus(200, l.export()); !strings.Contains(put, `"changed":0`) || !strings.Contains(put, `"created":0`) {
		t.Errorf("a server does not accept its own export: %s", put)
	}
}

func mustJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// countedStore counts how often the keys of the store are read.
type countedStore struct {
	rota.Store
	states atomic.Int64
}

func (c *countedStore) SecretState(ctx context.Context) (rota.SecretState, error) {
	c.states.Add(1)
	return c.Store.SecretState(ctx)
}

// TestImportReadsTheKeyOfTheStoreOnce: each read goes through the webhooks of all templates.
func TestImportReadsTheKeyOfTheStoreOnce(t *testing.T) {
	counted := &countedStore{}
	l := start(t, Config{Data: t.TempDir(), Wrap: func(s rota.Store) rota.Store { counted.Store = s; return counted }})
	d := api.Definitions{Templates: map[string]api.TemplateDefinition{}}
	for i := range 20 {
		hooks := []api.WebhookDefinition{{URL: "https://example.org/hook", Events: []string{"job.dead"}, Secret: "0123456789abcdef"}}
		d.Templates[fmt.Sprintf("t%d", i)] = api.TemplateDefinition{Type: "noop", Webhooks: hooks}
	}
	before := counted.states.Load()
	l.importStatus(200, d)
	if reads := counted.states.Load() - before; reads != 1 {
		t.Errorf("%d reads", reads)
	}
	if state := l.secretState(); len(state.Needed) != 1 || state.Plain != 0 {
		t.Errorf("%+v", state)
	}
}
