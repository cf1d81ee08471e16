package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// lockTransfer is held by a copy from or into the store.
const lockTransfer lockKey = 97 << 16

// stateMoved is the SQLSTATE of a change of a store that was moved.
const stateMoved = "RT001"

// The marks, and whether no copy is running. The lock that the query takes ends with it.
const sqlMarks = `
SELECT coalesce((SELECT value FROM rota_meta WHERE key = 'moved'), ''), coalesce((SELECT value FROM rota_meta WHERE key = 'copy'), ''),
  pg_try_advisory_xact_lock_shared(%d, %d)`

const (
	// The triggers of sqlMovedTrigger go with their function.
	sqlDropMovedTriggers = `
DROP FUNCTION IF EXISTS rota_moved() CASCADE`
	sqlDropMovedMark = `;
DELETE FROM rota_meta
WHERE key = 'moved'`
)

// checkMarks refuses a store that was moved to another one, one whose copy is not complete, and one
// that is being copied. With AllowMoved it removes the mark of a moved store. It reads before the store is migrated, because a moved store stays as it is.
func (s *Store) checkMarks(ctx context.Context, conn *pgconn.PgConn) error {
	if s.config.ReadOnly || s.config.transfer {
		return nil
	}
	m := &migration{ctx, conn, s.dialect}
	moved, copying, free, err := m.marks()
	switch {
	case err != nil:
		return err
	case !free:
		return transferRuns()
	}
	if err := storekit.CheckMarks("postgres: open", moved, copying, s.config.AllowMoved); err != nil || moved == "" {
		return err
	}
	s.config.Logger.Warn("the store was moved to another one and is used again; its mark is removed", "mark", moved)
	_, err = m.exec(sqlDropMovedTriggers + sqlDropMovedMark) // one transaction
	return err
}

func transferRuns() *rota.Error {
	return &rota.Error{
		Code: rota.Busy, Act: "postgres: open", Reason: "rota copy is copying this store",
		Hint: "wait until the copy has ended",
	}
}

// marks returns the texts of the marks, which are empty in a schema without tables, and whether no
// copy is running.
func (m *migration) marks() (moved, copying string, free bool, err error) {
	_, exists, err := m.version()
	if err != nil || !exists {
		return "", "", true, err
	}
	rows, err := m.exec(sqlMarks, lockSpaceOf(m.schema()), lockTransfer)
	if err != nil {
		return "", "", false, err
	}
	return rows[0][0], rows[0][1], rows[0][2] == "t", nil
}
