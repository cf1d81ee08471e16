package dialect_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rotajobs/rota/console/dialect"
	"zombiezen.com/go/sqlite"
)

// TestCallsAreKnown: whatever a query asks for, its text calls nothing that is not on
// the lists.
func TestCallsAreKnown(t *testing.T) {
	d, known := openTestDB(t), map[string]bool{}
	for _, name := range dialect.NativeFunctions {
		known[name] = true
	}
	for _, f := range append(base, dialect.Functions...) {
		known[f.Name] = true
	}
	must(t, d.conn.SetAuthorizer(sqlite.AuthorizeFunc(func(a sqlite.Action) sqlite.AuthResult {
		name := strings.ToLower(reflect.ValueOf(a).FieldByName("arg2").String())
		if a.Type() == sqlite.OpFunction && !known[name] {
			t.Errorf("%s is called", name)
		}
		return sqlite.AuthResultOK
	})))
	for _, s := range samples(t, "same.sql") {
		stmt, _, err := d.conn.PrepareTransient(translated(t, s.text).Sorted.SQL)
		if err != nil {
			t.Errorf("%s: %v", s.text, err)
			continue
		}
		must(t, stmt.Finalize())
	}
}
