package postgres

import (
	"context"
	"encoding/json"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	groupColumns = `
SELECT id, name, mode, on_failure, size, ending, ending_reason, ending_by, created_by, created_at, pruned, xmin
FROM rota_groups`
	sqlGroup = groupColumns + `
WHERE id = ANY ($1)`
	sqlCountedGroup = `
SELECT g.*, e.*
FROM (` + sqlGroup + `
) g` + memberCounts
	sqlCountedGroups = `
SELECT g.*, e.*
FROM (` + groupColumns + `
  WHERE id < $1
  ORDER BY id DESC
  LIMIT $2
) g` + memberCounts + `
ORDER BY g.id DESC`
	sqlInsertGroup = `
INSERT INTO rota_groups (id, name, mode, on_failure, size, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`
	sqlUpdateGroup = `
UPDATE rota_groups
SET ending = $2, ending_reason = $3, ending_by = $4, pruned = $5
WHERE id = $1`
	sqlDeleteGroup = `
DELETE FROM rota_groups
WHERE id = $1`
)

// groupWidth is the number of columns of a group. Its counts follow them.
const groupWidth = 12

// tally is the stored form of a GroupTally.
type tally struct {
	Queued    int `json:"queued,omitempty"`
	Running   int `json:"running,omitempty"`
	Completed int `json:"completed,omitempty"`
	Dead      int `json:"dead,omitempty"`
	Skipped   int `json:"skipped,omitempty"`
	Cancelled int `json:"cancelled,omitempty"`
}

func scanGroup(r row) (*rota.Group, error) {
	g := &rota.Group{
		ID: r.ID(0), Name: r.Text(1), Mode: rota.GroupMode(r.Text(2)), OnFailure: rota.OnFailure(r.Text(3)),
		Size: int(r.Int(4)), Ending: rota.Ending(r.Text(5)), EndingReason: r.Text(6), EndingBy: r.Text(7),
		CreatedBy: r.Text(8), CreatedAt: r.Time(9),
	}
	if r.Null(10) {
		return g, nil
	}
	var pruned tally
	err := scanSpec(r, 10, &pruned, "group "+g.ID.String())
	g.Pruned = rota.GroupTally(pruned)
	return g, err
}

func (t *tx) loadGroups(ids []rota.ID, u *rules.UnitOfWork) []statement {
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		t.readSet.addLookup(classGroup, rowKey{name: string(id[:])})
	}
	return []statement{{sql: sqlGroup, params: []param{idsParam(ids)}, eachRow: scanTracked(t, classGroup, keyOfName, scanGroup, rules.Groups.Into(u))}}
}

// writeGroup inserts a new group, and updates the columns of a group that may change.
func (t *tx) writeGroup(c rules.Change[rota.ID, rota.Group]) (statements []statement) {
	switch {
	case c.Is == nil:
		return nil
	case c.Was == nil:
		statements = append(statements, insertGroup(c.Is))
		if c.Is.Ending == "" && c.Is.Pruned == (rota.GroupTally{}) {
			return statements
		}
	}
	var pruned json.RawMessage
	if c.Is.Pruned != (rota.GroupTally{}) {
		pruned, _ = json.Marshal(tally(c.Is.Pruned)) // numbers always marshal
	}
	return append(statements, statement{sql: sqlUpdateGroup, params: []param{
		idParam(c.Key), textParam(string(c.Is.Ending)), textParam(c.Is.EndingReason), textParam(c.Is.EndingBy), jsonParam(pruned),
	}})
}

func insertGroup(g *rota.Group) statement {
	return statement{sql: sqlInsertGroup, params: []param{
		idParam(g.ID), textParam(g.Name), textNotNull(string(g.Mode)), textNotNull(string(g.OnFailure)), intParam(int64(g.Size)),
		textParam(g.CreatedBy), timeParam(g.CreatedAt),
	}}
}

// deleteGroup deletes a group after its members.
func (t *tx) deleteGroup(c rules.Change[rota.ID, rota.Group]) []statement {
	if c.Is != nil {
		return nil
	}
	return []statement{{sql: sqlDeleteGroup, params: []param{idParam(c.Key)}}}
}

// Group returns a group with its tally.
func (s *reader) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	groups, err := s.groups(ctx, sqlCountedGroup, idsParam([]rota.ID{id}))
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
	return s.groups(ctx, sqlCountedGroups, beforeParam(before), intParam(most))
}

// groups reads groups. A group has one row for each state that its members are in.
func (s *reader) groups(ctx context.Context, sql string, params ...param) (groups []*rota.Group, err error) {
	err = s.query(ctx, "groups", statement{sql: sql, params: params, eachRow: func(r row) error {
		if n := len(groups); n == 0 || groups[n-1].ID != r.ID(0) {
			g, err := scanGroup(r)
			if err != nil {
				return err
			}
			g.Tally = g.Pruned
			groups = append(groups, g)
		}
		countMembers(&groups[len(groups)-1].Tally, r[groupWidth:])
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return groups, nil
}
