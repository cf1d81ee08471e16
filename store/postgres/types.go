package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	typeColumns = `
SELECT name, paused, version, created_by, created_at, updated_at, spec, xmin
FROM rota_types`
	sqlType = typeColumns + `
WHERE name = ANY ($1)`
	sqlTypes = typeColumns + `
WHERE name > $1 AND (name < 'rota.' OR name >= 'rota/')
ORDER BY name
LIMIT $2`
	sqlInsertType = `
INSERT INTO rota_types (name, paused, version, updated_at, spec, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`
	sqlUpdateType = `
UPDATE rota_types
SET paused = $2, version = $3, updated_at = $4, spec = $5
WHERE name = $1`
	sqlDeleteType = `
DELETE FROM rota_types
WHERE name = $1`
)

func scanType(r row) (*rota.Type, error) {
	t := &rota.Type{
		Name: r.Text(0), Paused: r.Bool(1), Version: r.ID(2), CreatedBy: r.Text(3), CreatedAt: r.Time(4), UpdatedAt: r.Time(5),
	}
	return t, scanSpec(r, 6, &t.Spec, "type "+t.Name)
}

func (t *tx) loadTypes(names []string, u *rules.UnitOfWork) []statement {
	var left []string
	var keys []rowKey
	for _, name := range names {
		if at := (rowKey{name: name}); !useCached(t, classType, at, rules.Types.Into(u)) {
			left, keys = append(left, name), append(keys, at)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return []statement{cacheRows(t, classType, keys, statement{sql: sqlType, params: []param{textsParam(left)}}, keyOfName, scanType, rules.Types.Into(u))}
}

func (t *tx) writeType(c rules.Change[string, rota.Type]) []statement {
	params := []param{textNotNull(c.Key)}
	if c.Is != nil {
		params = append(params, boolParam(c.Is.Paused), idParam(c.Is.Version), timeParam(c.Is.UpdatedAt), specParam(c.Is.Spec))
		if c.Was == nil {
			params = append(params, textParam(c.Is.CreatedBy), timeParam(c.Is.CreatedAt))
		}
	}
	return []statement{{sql: changeSQL(c.Was == nil, c.Is == nil, sqlInsertType, sqlUpdateType, sqlDeleteType), params: params}}
}

// Type returns a type by its name.
func (s *reader) Type(ctx context.Context, name string) (*rota.Type, error) {
	return readOne(ctx, s, "type", name, scanType, sqlType)
}

// Types lists types by name.
func (s *reader) Types(ctx context.Context, q rota.NameQuery) ([]*rota.Type, error) {
	return readNames(ctx, s, "types", q, scanType, sqlTypes)
}
