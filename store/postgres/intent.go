package postgres

import "github.com/rotajobs/rota/internal/rules"

const (
	sqlIntents = `
SELECT kind, name
FROM rota_intents
ORDER BY kind, name
LIMIT $1`
	// What is decided twice is still to be carried out once.
	sqlPutIntent = `
INSERT INTO rota_intents (kind, name)
VALUES ($1, $2)
ON CONFLICT (kind, name) DO NOTHING`
	sqlDeleteIntent = `
DELETE FROM rota_intents
WHERE kind = $1 AND name = $2`
)

func (t *tx) loadIntents(q rules.Intents, w *rules.UnitOfWork) ask {
	return ask{sql: sqlIntents, params: []param{intParam(int64(q.Limit))}, each: func(r row) error {
		w.PutIntent(q, rules.Intent{Kind: r.text(0), Name: r.text(1)})
		return nil
	}}
}

func (t *tx) writeIntent(c rules.Change[rules.Intent, rules.Intent]) []ask {
	sql := sqlPutIntent
	if c.Is == nil {
		sql = sqlDeleteIntent
	}
	return []ask{{sql: sql, params: []param{textAlways(c.Key.Kind), textAlways(c.Key.Name)}}}
}
