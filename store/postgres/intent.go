package postgres

import "github.com/rotajobs/rota/internal/rules"

const (
	sqlIntents = `
SELECT kind, name
FROM rota_intents
ORDER BY kind, name
LIMIT $1`
	// A second decision adds no second intent.
	sqlPutIntent = `
INSERT INTO rota_intents (kind, name)
VALUES ($1, $2)
ON CONFLICT (kind, name) DO NOTHING`
	sqlDeleteIntent = `
DELETE FROM rota_intents
WHERE kind = $1 AND name = $2`
)

func (t *tx) loadIntents(q rules.Intents, u *rules.UnitOfWork) statement {
	return statement{sql: sqlIntents, params: []param{intParam(int64(q.Limit))}, eachRow: func(r row) error {
		u.PutIntent(q, rules.Intent{Kind: r.Text(0), Name: r.Text(1)})
		return nil
	}}
}

func (t *tx) writeIntent(c rules.Change[rules.Intent, rules.Intent]) []statement {
	sql := sqlPutIntent
	if c.Is == nil {
		sql = sqlDeleteIntent
	}
	return []statement{{sql: sql, params: []param{textNotNull(c.Key.Kind), textNotNull(c.Key.Name)}}}
}
