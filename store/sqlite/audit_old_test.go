package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota"
)

// TestStoredEntryWithoutActorIsRead reads an entry that an earlier version stored without actor and
// outcome, by a filter for the actor that it now has.
func TestStoredEntryWithoutActorIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	s, err := OpenWith(path, Config{})
	must(t, err)
	must(t, s.Close())
	conn := rawConn(t, path)
	execute(t, conn, `INSERT INTO rota_audit (id, at, act, subject) VALUES (randomblob(16), 9, 'SCHEDULE_MISSED', 'schedule x')`)
	must(t, conn.Close())
	s, err = OpenWith(path, Config{})
	must(t, err)
	defer s.Close()
	page, err := s.Audit(t.Context(), rota.AuditQuery{Actor: rota.SystemActor})
	must(t, err)
	if len(page.Entries) != 1 || page.Entries[0].Actor != "rota" || page.Entries[0].Outcome != "OK" {
		t.Errorf("%+v", page.Entries)
	}
}
