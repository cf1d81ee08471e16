package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlIntents = `
SELECT kind, name
FROM rota_intents
ORDER BY kind, name
LIMIT +?`
	// A second decision adds no second intent.
	sqlPutIntent = `
INSERT OR ROLLBACK INTO rota_intents (kind, name)
VALUES (?, ?)
ON CONFLICT (kind, name) DO NOTHING`
	sqlDeleteIntent = `
DELETE FROM rota_intents
WHERE kind = ? AND name = ?`
)

func (w *writer) loadIntents(q rules.Intents, u *rules.UnitOfWork) error {
	return w.query(sqlIntents, func(s *sqlite.Stmt) { s.BindInt64(1, int64(q.Limit)) }, func(s *sqlite.Stmt) error {
		u.PutIntent(q, rules.Intent{Kind: s.ColumnText(0), Name: s.ColumnText(1)})
		return nil
	})
}

func (w *writer) writeIntent(c rules.Change[rules.Intent, rules.Intent]) error {
	sql := sqlPutIntent
	if c.Is == nil {
		sql = sqlDeleteIntent
	}
	return w.change(sql, func(s *sqlite.Stmt) {
		s.BindText(1, c.Key.Kind)
		s.BindText(2, c.Key.Name)
	})
}
