package sqlite

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
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
	path := filepath.Join(memoryDir(t), "rota.db")
	existingEntries(t, path, 2500)
	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	wantIntact(t, s, 2500)
}

// TestOpenContinuesSealingAfterCrash ends the first start of an upgraded store between two pages.
func TestOpenContinuesSealingAfterCrash(t *testing.T) {
	path := filepath.Join(memoryDir(t), "rota.db")
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
