package definitions_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/definitions"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/store/sqlite"
)

const document = `{"version":1,"types":{"mail":{"paused":false,"max_retries":5}},` +
	`"templates":{"digest":{"type":"mail","state":"ACTIVE","owner":"admin","default_params":{"to":"all"}}},` +
	`"schedules":{"digest":{"template":"digest","state":"PAUSED","owner":"admin","cron":"0 7 * * *","timezone":"Europe/Berlin"}},` +
	`"limits":{"global":3}}`

// TestImportByGoProgramEqualsExport applies a document without a server, twice, and exports it.
func TestImportByGoProgramEqualsExport(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var body api.Definitions
	if err := json.Unmarshal([]byte(document), &body); err != nil {
		t.Fatal(err)
	}
	s := &definitions.Sync{Store: store, Schemas: payload.NewSchemaCache(), BytesMax: 1 << 20}
	for _, want := range []struct {
		dry                         bool
		created, changed, unchanged int
	}{{true, 3, 1, 0}, {false, 3, 1, 0}, {false, 0, 0, 4}} {
		put, err := s.Import(t.Context(), &body, definitions.Request{Actor: "ada"}, want.dry)
		if err != nil || put.Created != want.created || put.Changed != want.changed || put.Unchanged != want.unchanged {
			t.Fatalf("%+v: %+v, %v", want, put, err)
		}
	}
	found, err := s.Export(t.Context(), false)
	if text := string(rota.EncodeSpec(found)); err != nil || text != document {
		t.Errorf("it exports %s, %v", text, err)
	}
	body.Templates["digest"] = api.TemplateDefinition{Type: "mial"}
	if _, err := s.Import(t.Context(), &body, definitions.Request{}, false); err == nil || err.(*api.Problem).Errors[0].Field != "templates.digest.type" {
		t.Errorf("an undeclared type is refused with %v", err)
	}
}
