package postgres

import "github.com/rotajobs/rota/internal/rules"

const (
	requestColumns = `
SELECT r.actor, r.key, r.at, r.command_id, r.hash, r.xmin
FROM rota_requests r`
	sqlRequest = requestColumns + `
JOIN unnest($1, $2) AS v (actor, key) ON r.actor = v.actor AND r.key = v.key`
	sqlLapsed = requestColumns + `
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
		Key: rules.RequestKey{Actor: r.text(0), Key: r.text(1)}, At: r.time(2), Command: r.id(3), Hash: r.text(4),
	}, nil
}

// ofRequest is the seat of a request: the actor is part of its key.
func ofRequest(r row) seat { return seat{name: r.text(0), more: r.text(1)} }

func (t *tx) loadRequests(keys []rules.RequestKey, w *rules.UnitOfWork) []ask {
	if len(keys) == 0 {
		return nil
	}
	actors, names := newColumn(oidTexts, len(keys)), newColumn(oidTexts, len(keys))
	for _, key := range keys {
		t.seen.asked(classRequest, seat{name: key.Actor, more: key.Key})
		actors.textAlways(key.Actor)
		names.textAlways(key.Key)
	}
	return []ask{{
		sql: sqlRequest, params: []param{actors.param(), names.param()},
		each: putSeen(t, classRequest, ofRequest, scanRequest, w.PutRequest),
	}}
}

func (t *tx) loadLapsed(q rules.ExpiredRequests, w *rules.UnitOfWork) ask {
	return ask{
		sql: sqlLapsed, params: []param{intParam(q.By), intParam(int64(q.Limit))},
		each: putSeen(t, classRequest, ofRequest, scanRequest, func(r *rules.Request) { w.PutExpiredRequest(q, r) }),
	}
}

// writeRequest writes a key that was tied or set free. One that is tied anew
// makes way for itself, since none is ever changed.
func (t *tx) writeRequest(c rules.Change[rules.RequestKey, rules.Request]) (asks []ask) {
	key := []param{textAlways(c.Key.Actor), textAlways(c.Key.Key)}
	if c.Was != nil {
		asks = append(asks, ask{sql: sqlDeleteRequest, params: key})
	}
	if c.Is != nil {
		asks = append(asks, ask{
			sql: sqlInsertRequest, params: append(key, timeParam(c.Is.At), idParam(c.Is.Command), textAlways(c.Is.Hash)),
		})
	}
	return asks
}
