package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	requestColumns = `
SELECT actor, key, at, command_id, hash
FROM rota_requests`
	sqlRequest = requestColumns + `
WHERE actor = ? AND key = ?`
	sqlExpiredRequests = requestColumns + ` INDEXED BY rota_requests_at
WHERE at <= ?
ORDER BY at, actor, key
LIMIT +?`
	sqlInsertRequest = `
INSERT OR ROLLBACK INTO rota_requests (actor, key, at, command_id, hash)
VALUES (?, ?, ?, ?, ?)`
	sqlDeleteRequest = `
DELETE FROM rota_requests
WHERE actor = ? AND key = ?`
)

func scanRequest(s *sqlite.Stmt) (*rules.Request, error) {
	return &rules.Request{
		Key: rules.RequestKey{Actor: s.ColumnText(0), Key: s.ColumnText(1)}, At: scanTime(s, 2), Command: scanID(s, 3),
		Hash: s.ColumnText(4),
	}, nil
}

func (w *writer) loadRequest(key rules.RequestKey, u *rules.UnitOfWork) error {
	return w.query(sqlRequest, func(s *sqlite.Stmt) { bindRequestKey(s, key) }, scanInto(scanRequest, rules.Requests.Into(u)))
}

func (w *writer) loadExpiredRequests(q rules.ExpiredRequests, u *rules.UnitOfWork) error {
	return w.query(sqlExpiredRequests, func(s *sqlite.Stmt) {
		s.BindInt64(1, q.By)
		s.BindInt64(2, int64(q.Limit))
	}, scanInto(scanRequest, func(r *rules.Request) { u.PutExpiredRequest(q, r) }))
}

// writeRequest inserts or deletes an idempotency key. Rows are never updated: a key that is used
// again is deleted and inserted.
func (w *writer) writeRequest(c rules.Change[rules.RequestKey, rules.Request]) error {
	if c.Was != nil {
		if err := w.change(sqlDeleteRequest, func(s *sqlite.Stmt) { bindRequestKey(s, c.Key) }); err != nil {
			return err
		}
	}
	if c.Is == nil {
		return nil
	}
	return w.change(sqlInsertRequest, func(s *sqlite.Stmt) {
		bindRequestKey(s, c.Key)
		bindTime(s, 3, c.Is.At)
		bindID(s, 4, c.Is.Command)
		s.BindText(5, c.Is.Hash)
	})
}

// bindRequestKey binds an empty actor as text and not as NULL, because it is part of the key.
func bindRequestKey(s *sqlite.Stmt, key rules.RequestKey) {
	s.BindText(1, key.Actor)
	s.BindText(2, key.Key)
}
