package translate_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
)

// The text of any query calls only functions of the lists.
func TestTranslatedCallsAreListed(t *testing.T) {
	d, known := openTestDB(t), map[string]bool{}
	for _, name := range translate.NativeFunctions {
		known[name] = true
	}
	for _, f := range append(hostFunctions, translate.Functions...) {
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
		stmt, _, err := d.conn.PrepareTransient(translateText(t, s.text).Sorted.SQL)
		if err != nil {
			t.Errorf("%s: %v", s.text, err)
			continue
		}
		must(t, stmt.Finalize())
	}
}
