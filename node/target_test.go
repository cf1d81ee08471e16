package node

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
)

func TestTargetsAreReadFromFileAndEnvironment(t *testing.T) {
	file := configFile(t, `
workers: 4
targets:
  warehouse:
    url: postgres://app:secret@db/warehouse
    roles: {etl: "postgres://etl@db/warehouse"}
    open_to: [etl, ada]
    timeout: 30s
  shop: {timeout: 1h, open_to: [nobody]}
  one: {url: "sqlite:one.db", open_to: ada}
  lines:
    url: sqlite:lines.db
    open_to:
      - "7"
      - 8
  closed: {url: "sqlite:closed.db", open_to: []}
`)
	c, err := Load(file, variablesOf("ROTA_TARGETS_SHOP_URL=mysql://shop:geheim@host/shop", "ROTA_TARGETS_WAREHOUSE_ROLES_ETL=postgres://etl:new@db/warehouse",
		"ROTA_TARGETS_MAIN_URL=sqlite:other.db", "ROTA_TARGETS_SHOP_OPEN_TO=bob, ops", "ROTA_TARGETS_MAIN_OPEN_TO=ops"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]action.Target{
		"warehouse": {URL: "postgres://app:secret@db/warehouse", Roles: map[string]string{"etl": "postgres://etl:new@db/warehouse"}, OpenTo: []string{"etl", "ada"}, Timeout: 30 * time.Second},
		"shop":      {URL: "mysql://shop:geheim@host/shop", OpenTo: []string{"bob", "ops"}, Timeout: time.Hour},
		"one":       {URL: "sqlite:one.db", OpenTo: []string{"ada"}},
		"lines":     {URL: "sqlite:lines.db", OpenTo: []string{"7", "8"}},
		"closed":    {URL: "sqlite:closed.db"},
		"main":      {URL: "sqlite:other.db", OpenTo: []string{"ops"}},
	}
	if !reflect.DeepEqual(c.Targets, want) || c.Workers != 4 {
		t.Errorf("targets %+v and %d workers, want %+v and 4", c.Targets, c.Workers, want)
	}
}

func TestInvalidTargetNamesLineAndHidesPassword(t *testing.T) {
	for _, row := range []struct{ text, where, says string }{
		{"targets: 3", "FILE:1", "list of names"},
		{"targets:\n  Ware House: {url: 'sqlite:x.db'}", "FILE:2", "not the name of a target"},
		{"targets:\n  a:\n    url: 'oracle://u:geheim@h/d'", "FILE:3", "scheme"},
		{"targets:\n  a:\n    timeout: 3s", "FILE:2", "no URL"},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    timeout: soon", "FILE:4", "not a duration"},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    timeout: 8d", "FILE:4", "out of range"},
		{"targets:\n  a:\n    url: 'sqlite:../x.db'", "FILE:3", "outside the data directory"},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    roles: {etl: 'sqlite:y.db'}", "FILE:2", "no logins"},
		{"targets:\n  a:\n    url: 'postgres://u:geh%heim@h/d'", "FILE:3", "do not allow this URL"},
		{"targets:\n  a:\n    url: 'postgres://u@h/d'\n    roles:\n      etl: 'mysql://u:geheim@h/d'", "FILE:5", "leads to MariaDB"},
		{"targets:\n  a:\n    url: 'mysql://u:geheim@h'", "FILE:3", "has no database name"},
		{"targets:\n  a:\n    url: 'mysql://u:geheim@h/d?allowAllFiles=true'", "FILE:3", "tls or socket"},
		{"targets:\n  a:\n    ulr: 'sqlite:x.db'", "FILE:3", "unknown setting"},
		{"targets:\n  a: {url: 'sqlite:x.db'}\n  a: {url: 'sqlite:y.db'}", "FILE:3", ""},
		{"targets:\n  a:\n    url: [x]", "FILE:3", "not a scalar"},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    open_to: [ada, '*']", "FILE:4", `"*" cannot be the name of a user`},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    open_to: {ada: true}", "FILE:4", "not a list of names"},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    open_to: [[ada]]", "FILE:4", "not a list of names"},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    open_to:", "FILE:4", "not a list of names"},
		{"targets:\n  a:\n    url: 'sqlite:x.db'\n    opento: [ada]", "FILE:4", "unknown setting"},
	} {
		file := configFile(t, row.text)
		_, err := Load(file, noEnv)
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || !strings.Contains(err.Error(), row.says) ||
			!strings.HasPrefix(refusal.Act, strings.ReplaceAll(row.where, "FILE", file)) {
			t.Errorf("%s: %v", row.text, err)
		}
		if err != nil && strings.Contains(err.Error()+refusal.Hint, "heim") {
			t.Errorf("%s: the error contains the password: %v", row.text, err)
		}
	}
	_, err := Load(configFile(t, "targets: {a: {url: 'sqlite:x.db', open_to: [ada]}}"), variablesOf("ROTA_TARGETS_A_OPEN_TO=ada bob"))
	if err == nil || !strings.Contains(err.Error(), "ROTA_TARGETS_A_OPEN_TO") {
		t.Errorf("%v", err)
	}
	_, err = Load(configFile(t, "targets: {a: {}}"), variablesOf("ROTA_TARGETS_A_URL=oracle:x"))
	if err == nil || !strings.Contains(err.Error(), "ROTA_TARGETS_A_URL") {
		t.Errorf("%v", err)
	}
}
