package translate_test

import (
	"testing"

	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
)

// Any query that parses is translated or rejected, and SQLite accepts each translated text.
func FuzzTranslate(f *testing.F) {
	for _, file := range []string{"same.sql", "wrong.sql", "zones.sql"} {
		for _, s := range samples(f, file) {
			f.Add(s.text)
		}
	}
	d := openTestDB(f)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := query.Parse(text)
		if err != nil {
			return
		}
		for _, zone := range []string{"", "Europe/Berlin"} {
			d.checkReadable(t, q, text, zone)
		}
	})
}

// checkReadable says that SQLite can read what a query becomes in a session of a zone.
func (d *testDB) checkReadable(t *testing.T, q *query.Query, text, zone string) {
	t.Helper()
	s, err := translate.Translate(q, catalogue{zone}, nil)
	if err != nil {
		if _, ours := err.(*translate.Error); !ours {
			t.Errorf("%s\n\t%T %v", text, err, err)
		}
		return
	}
	if stmt, _, err := d.conn.PrepareTransient(s.Text); err == nil {
		must(t, stmt.Finalize())
	} else {
		t.Errorf("%s\n\t%s\n\t%v", text, s.Text, err)
	}
}
