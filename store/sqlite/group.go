package sqlite

import (
	"context"
	"encoding/json"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	groupColumns = `
SELECT id, name, mode, on_failure, size, ending, ending_reason, ending_by, created_by, created_at, pruned
FROM rota_groups`
	sqlGroup = groupColumns + `
WHERE id = ?`
	sqlGroups = groupColumns + `
WHERE id < ?
ORDER BY id DESC
LIMIT +?`
	sqlInsertGroup = `
INSERT OR ROLLBACK INTO rota_groups (id, name, mode, on_failure, size, created_by, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateGroup = `
UPDATE OR ROLLBACK rota_groups
SET ending = ?2, ending_reason = ?3, ending_by = ?4, pruned = ?5
WHERE id = ?1`
	sqlDeleteGroup = `
DELETE FROM rota_groups
WHERE id = ?`
)

// tally is the stored form of a GroupTally.
type tally struct {
	Queued    int `json:"queued,omitempty"`
	Running   int `json:"running,omitempty"`
	Completed int `json:"completed,omitempty"`
	Dead      int `json:"dead,omitempty"`
	Skipped   int `json:"skipped,omitempty"`
	Cancelled int `json:"cancelled,omitempty"`
}

func scanGroup(s *sqlite.Stmt) (*rota.Group, error) {
	g := &rota.Group{
		ID: scanID(s, 0), Name: s.ColumnText(1), Mode: rota.GroupMode(s.ColumnText(2)), OnFailure: rota.OnFailure(s.ColumnText(3)),
		Size: int(s.ColumnInt64(4)), Ending: rota.Ending(s.ColumnText(5)), EndingReason: s.ColumnText(6),
		EndingBy: s.ColumnText(7), CreatedBy: s.ColumnText(8), CreatedAt: scanTime(s, 9),
	}
	if s.ColumnIsNull(10) {
		return g, nil
	}
	var pruned tally
	err := scanSpec(s, 10, &pruned, "group "+g.ID.String())
	g.Pruned = rota.GroupTally(pruned)
	return g, err
}

func (w *writer) loadGroup(id rota.ID, u *rules.UnitOfWork) error {
	return w.query(sqlGroup, func(s *sqlite.Stmt) { s.BindBytes(1, id[:]) }, scanInto(scanGroup, rules.Groups.Into(u)))
}

// writeGroup inserts a new group, and updates the columns of a group that may change.
func (w *writer) writeGroup(c rules.Change[rota.ID, rota.Group]) error {
	switch {
	case c.Is == nil:
		return nil
	case c.Was == nil:
		if err := w.insertGroup(c.Is); err != nil || (c.Is.Ending == "" && c.Is.Pruned == rota.GroupTally{}) {
			return err
		}
	}
	return w.change(sqlUpdateGroup, func(s *sqlite.Stmt) {
		s.BindBytes(1, c.Key[:])
		bindText(s, 2, string(c.Is.Ending))
		bindText(s, 3, c.Is.EndingReason)
		bindText(s, 4, c.Is.EndingBy)
		if c.Is.Pruned != (rota.GroupTally{}) {
			doc, _ := json.Marshal(tally(c.Is.Pruned)) // numbers always marshal
			bindJSON(s, 5, doc)
		}
	})
}

func (w *writer) insertGroup(g *rota.Group) error {
	return w.change(sqlInsertGroup, func(s *sqlite.Stmt) {
		s.BindBytes(1, g.ID[:])
		bindText(s, 2, g.Name)
		s.BindText(3, string(g.Mode))
		s.BindText(4, string(g.OnFailure))
		s.BindInt64(5, int64(g.Size))
		bindText(s, 6, g.CreatedBy)
		bindTime(s, 7, g.CreatedAt)
	})
}

// deleteGroup deletes a group after its members.
func (w *writer) deleteGroup(c rules.Change[rota.ID, rota.Group]) error {
	if c.Is != nil {
		return nil
	}
	return w.change(sqlDeleteGroup, func(s *sqlite.Stmt) { s.BindBytes(1, c.Key[:]) })
}

// Group returns a group with its tally.
func (s *reader) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	groups, err := s.groups(ctx, sqlGroup, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) })
	switch {
	case err != nil:
		return nil, err
	case len(groups) == 0:
		return nil, notFound("group", id.String())
	}
	return groups[0], nil
}

// Groups lists groups with their tallies, newest first.
func (s *reader) Groups(ctx context.Context, before rota.ID, limit int) ([]*rota.Group, error) {
	most, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	return s.groups(ctx, sqlGroups, func(stmt *sqlite.Stmt) {
		bindBefore(stmt, 1, before)
		stmt.BindInt64(2, most)
	})
}

func (s *reader) groups(ctx context.Context, sql string, bind func(*sqlite.Stmt)) (groups []*rota.Group, err error) {
	err = s.withSnapshot(ctx, "groups", func(conn *sqlite.Conn) error {
		groups, err = queryAll(conn, sql, bind, scanGroup)
		for _, g := range groups {
			if err == nil {
				err = countMembers(conn, g)
			}
		}
		return err
	})
	return groups, err
}
