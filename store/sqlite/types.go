package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	typeColumns = `
SELECT name, paused, version, created_by, created_at, updated_at, spec
FROM rota_types`
	sqlType = typeColumns + `
WHERE name = ?`
	sqlTypes = typeColumns + `
WHERE name > ? AND (name < 'rota.' OR name >= 'rota/')
ORDER BY name
LIMIT +?`
	sqlInsertType = `
INSERT OR ROLLBACK INTO rota_types (name, paused, version, updated_at, spec, created_by, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateType = `
UPDATE OR ROLLBACK rota_types
SET paused = ?2, version = ?3, updated_at = ?4, spec = ?5
WHERE name = ?1`
	sqlDeleteType = `
DELETE FROM rota_types
WHERE name = ?`
)

func scanType(s *sqlite.Stmt) (*rota.Type, error) {
	t := &rota.Type{
		Name: s.ColumnText(0), Paused: s.ColumnInt64(1) == 1, Version: scanID(s, 2), CreatedBy: s.ColumnText(3),
		CreatedAt: scanTime(s, 4), UpdatedAt: scanTime(s, 5),
	}
	return t, scanSpec(s, 6, &t.Spec, "type "+t.Name)
}

func (w *writer) loadType(name string, u *rules.UnitOfWork) error {
	return w.query(sqlType, func(s *sqlite.Stmt) { s.BindText(1, name) }, scanInto(scanType, rules.Types.Into(u)))
}

func (w *writer) writeType(c rules.Change[string, rota.Type]) error {
	return w.change(changeSQL(c.Was == nil, c.Is == nil, sqlInsertType, sqlUpdateType, sqlDeleteType), func(s *sqlite.Stmt) {
		s.BindText(1, c.Key)
		if c.Is == nil {
			return
		}
		s.BindBool(2, c.Is.Paused)
		bindID(s, 3, c.Is.Version)
		bindTime(s, 4, c.Is.UpdatedAt)
		bindSpec(s, 5, c.Is.Spec)
		if c.Was == nil {
			bindText(s, 6, c.Is.CreatedBy)
			bindTime(s, 7, c.Is.CreatedAt)
		}
	})
}

// Type returns a type by its name.
func (s *reader) Type(ctx context.Context, name string) (*rota.Type, error) {
	return readOne(ctx, s, "type", name, sqlType, func(stmt *sqlite.Stmt) { stmt.BindText(1, name) }, scanType)
}

// Types lists types by name.
func (s *reader) Types(ctx context.Context, q rota.NameQuery) ([]*rota.Type, error) {
	return readNames(ctx, s, "types", sqlTypes, q, scanType)
}
