package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

func wantIntact(t testing.TB, s *Store, entries int64) {
	t.Helper()
	report, err := s.VerifyAudit(t.Context(), rota.AuditTrust{})
	must(t, err)
	if report.Fault != nil || report.Checked != entries || report.Unsealed != 0 {
		t.Errorf("%d entries are intact and %d unsealed, want %d and 0; fault %v", report.Checked, report.Unsealed, entries, report.Fault)
	}
}

// existingEntries writes n entries in a store of the version before the chain.
func existingEntries(t testing.TB, path string, n int) {
	t.Helper()
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	conn := rawConn(t, path)
	defer conn.Close()
	execute(t, conn, sqlMetaTable)
	must(t, registerFunctions(conn))
	for i := range slices.IndexFunc(steps, func(step string) bool { return strings.HasSuffix(step, "_audit_chain.sql") }) {
		must(t, migrateOne(conn, steps[i], i+1))
	}
	execute(t, conn, `BEGIN`)
	for range n {
		execute(t, conn, `INSERT INTO rota_audit (id, at, act) VALUES (randomblob(16), abs(random()) % 1000, 'LIMITS_MODIFIED')`)
	}
	execute(t, conn, `COMMIT`)
}

// TestOpenSealsExistingEntries opens a store whose entries are not sealed yet.
func TestOpenSealsExistingEntries(t *testing.T) {
	path := filepath.Join(sqlitetest.MemoryDir(t), "rota.db")
	existingEntries(t, path, 2500)
	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	wantIntact(t, s, 2500)
}

// TestOpenContinuesSealingAfterCrash ends the first start of an upgraded store between two pages.
func TestOpenContinuesSealingAfterCrash(t *testing.T) {
	path := filepath.Join(sqlitetest.MemoryDir(t), "rota.db")
	existingEntries(t, path, 2500)
	crash := errors.New("the process ends here")
	_, err := OpenWith(path, Config{Logger: quiet, injectFault: func(statement int) error {
		if statement == 4 { // the second statement of the second page
			return crash
		}
		return nil
	}})
	if !errors.Is(err, crash) {
		t.Fatalf("open returned %v", err)
	}
	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	wantIntact(t, s, 2500)
	apply(t, s, rota.Batch{Commands: []rota.Command{&rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: 7}}}})
	wantIntact(t, s, 2501)
}

// TestPruneThatCannotMoveTheAnchorRemovesNothing has a trigger that skips the update of the anchor.
func TestPruneThatCannotMoveTheAnchorRemovesNothing(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for n := range 3 {
		apply(t, s, rota.Batch{Commands: []rota.Command{&rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: n + 1}}}})
	}
	conn := rawConn(t, s.path)
	defer conn.Close()
	execute(t, conn, `CREATE TRIGGER skip BEFORE UPDATE ON rota_audit_anchor BEGIN SELECT RAISE(IGNORE); END`)
	removed, err := s.PruneAudit(t.Context(), time.Now().Add(time.Hour), 2, nil)
	if removed != 0 || rota.CodeOf(err) != rota.Conflict {
		t.Errorf("%d entries were removed: %v", removed, err)
	}
	wantIntact(t, s, 3)
}

// TestSealOfExistingEntriesBoundsTheirNumber seals rows that have several entries each, as on PostgreSQL.
func TestSealOfExistingEntriesBoundsTheirNumber(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	conn := rawConn(t, s.path)
	defer conn.Close()
	for n := range 3 {
		ids := fmt.Sprintf("%032x%032x", 2*n+1, 2*n+2)
		execute(t, conn, `INSERT INTO rota_audit (id, at, act) VALUES (x'`+ids[:32]+`', 7, 'LIMITS_MODIFIED'), (x'`+ids[32:]+`', 7, 'LIMITS_MODIFIED')`)
		execute(t, conn, fmt.Sprintf(`INSERT INTO rota_audit_unsealed (n, at, ids) VALUES (%d, 7, x'%s')`, n, ids))
	}
	for _, want := range []int{4, 2, 0} {
		must(t, s.write(t.Context(), "seal", func(w *writer) error {
			sealed, err := w.sealOld(3)
			if sealed != want {
				t.Errorf("%d entries were sealed, want %d", sealed, want)
			}
			return err
		}))
	}
	wantIntact(t, s, 6)
}
