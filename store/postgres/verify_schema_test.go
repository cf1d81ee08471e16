package postgres

import (
	"slices"
	"testing"

	"github.com/rotajobs/rota"
)

// TestVerifyKnowsEverySchemaObject compares the objects parsed from the migrations with those of a
// database.
func TestVerifyKnowsEverySchemaObject(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	var is []string
	must(t, s.query(t.Context(), "schema", statement{sql: sqlSchema, params: []param{textNotNull(s.dialect.schema)}, eachRow: func(r row) error {
		is = append(is, r.Text(0))
		return nil
	}}))
	want, err := schemaOfMigrations()
	must(t, err)
	for _, name := range is {
		if !slices.Contains(want.names, name) {
			t.Errorf("Verify does not know of %s", name)
		}
	}
	for _, name := range want.names {
		if !slices.Contains(is, name) {
			t.Errorf("Verify expects %s, which no migration creates", name)
		}
	}
	if len(want.bodies) == 0 {
		t.Error("Verify knows no function body")
	}
}

func TestVerifyReportsMissingSchemaObject(t *testing.T) {
	for name, c := range map[string]struct{ sql, row, detail string }{
		"an index that is gone":      {`DROP INDEX rota_jobs_claim`, "index jobs_claim", "it is missing"},
		"a key that is gone":         {`ALTER TABLE rota_keys DROP CONSTRAINT keys_pkey`, "index keys_pkey", "it is missing"},
		"a constraint that is gone":  {`ALTER TABLE rota_jobs DROP CONSTRAINT jobs_state`, "constraint jobs_state", "it is missing"},
		"a trigger that is gone":     {`DROP TRIGGER jobs_once ON rota_jobs`, "trigger jobs_once", "it is missing"},
		"a trigger that is disabled": {`ALTER TABLE rota_jobs DISABLE TRIGGER jobs_once`, "trigger jobs_once", "it is disabled or not valid"},
		"a function that does something else": {
			`CREATE OR REPLACE FUNCTION rota_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
			"function refuse", "it differs from what this version creates",
		},
		"a constraint that was not validated": {
			`ALTER TABLE rota_groups DROP CONSTRAINT groups_size; ALTER TABLE rota_groups ADD CONSTRAINT groups_size CHECK (size >= 1) NOT VALID`,
			"constraint groups_size", "it is disabled or not valid",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, Config{Logger: quiet})
			rows(t, s, c.sql)
			var found []rota.Violation
			for v, err := range s.Verify(t.Context()) {
				must(t, err)
				found = append(found, v)
			}
			if len(found) != 1 || found[0].Check != rota.CheckSchema || !slices.Equal(found[0].Rows, []string{c.row}) || found[0].Detail != c.detail {
				t.Errorf("Verify found %+v, want %s: %s", found, c.row, c.detail)
			}
		})
	}
}
