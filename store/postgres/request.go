package postgres

import "github.com/rotajobs/rota/internal/rules"

const (
	requestColumns = `
SELECT r.actor, r.key, r.at, r.command_id, r.hash, r.xmin
FROM rota_requests r`
	sqlRequest = requestColumns + `
JOIN unnest($1, $2) AS v (actor, key) ON r.actor = v.actor AND r.key = v.key`
	sqlExpiredRequests = requestColumns + `
WHERE r.at <= $1
ORDER BY r.at, r.actor, r.key
LIMIT $2`
	sqlInsertRequest = `
INSERT INTO rota_requests (actor, key, at, command_id, hash)
VALUES ($1, $2, $3, $4, $5)`
	sqlDeleteRequest = `
DELETE FROM rota_requests
WHERE actor = $1 AND key = $2`
)

func scanRequest(r row) (*rules.Request, error) {
	return &rules.Request{
		Key: rules.RequestKey{Actor: r.Text(0), Key: r.Text(1)}, At: r.Time(2), Command: r.ID(3), Hash: r.Text(4),
	}, nil
}

// keyOfRequest returns the row key of a request: actor and key.
func keyOfRequest(r row) rowKey { return rowKey{name: r.Text(0), second: r.Text(1)} }

func (t *tx) loadRequests(keys []rules.RequestKey, u *rules.UnitOfWork) []statement {
	if len(keys) == 0 {
		return nil
	}
	actors, names := newColumn(oidTexts, len(keys)), newColumn(oidTexts, len(keys))
	for _, key := range keys {
		t.readSet.addLookup(classRequest, rowKey{name: key.Actor, second: key.Key})
		actors.textNotNull(key.Actor)
		names.textNotNull(key.Key)
	}
	return []statement{{
		sql: sqlRequest, params: []param{actors.param(), names.param()},
		eachRow: scanTracked(t, classRequest, keyOfRequest, scanRequest, rules.Requests.Into(u)),
	}}
}

func (t *tx) loadExpiredRequests(q rules.ExpiredRequests, u *rules.UnitOfWork) statement {
	return statement{
		sql: sqlExpiredRequests, params: []param{intParam(q.By), intParam(int64(q.Limit))},
		eachRow: scanTracked(t, classRequest, keyOfRequest, scanRequest, func(r *rules.Request) { u.PutExpiredRequest(q, r) }),
	}
}

// writeRequest inserts or deletes an idempotency key. Rows are never updated: a key that is used
// again is deleted and inserted.
func (t *tx) writeRequest(c rules.Change[rules.RequestKey, rules.Request]) (statements []statement) {
	key := []param{textNotNull(c.Key.Actor), textNotNull(c.Key.Key)}
	if c.Was != nil {
		statements = append(statements, statement{sql: sqlDeleteRequest, params: key})
	}
	if c.Is != nil {
		statements = append(statements, statement{
			sql: sqlInsertRequest, params: append(key, timeParam(c.Is.At), idParam(c.Is.Command), textNotNull(c.Is.Hash)),
		})
	}
	return statements
}
