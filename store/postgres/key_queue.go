package postgres

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	keyQueueJobs = `
SELECT count(*)
FROM rota_jobs
WHERE concurrency_key = $1 AND sequel IS NULL`
	// The status is a subquery, so that the index of all open jobs does not fit.
	sqlKeyQueueOpen = keyQueueJobs + ` AND status = (SELECT 'RUNNING')`
	// No running job has a hold. The condition lets the index find the type.
	sqlKeyQueueOpenOf = keyQueueOpenOf + `$2`
	keyQueueOpenOf    = sqlKeyQueueOpen + ` AND hold = 0 AND type = `
	sqlKeyQueueReady  = keyQueueJobs + ` AND status = 'QUEUED' AND hold = 0 AND type = $2`

	// Reads the queue of one concurrency key: the jobs with hold 16, which only the key holds back,
	// and, if the key is limited, the ready jobs. It jumps from type to type in the index, so that
	// the number of jobs of each does not matter.
	//
	// The status and the hold are compared with columns, which keeps the planner on the index of
	// the concurrency keys. The indexes of claims and of the order have the same sort order,
	// contain all keys, and seem as good while they are short.
	sqlKeyQueue = `
WITH RECURSIVE types (status, hold, type) AS (
  SELECT 'QUEUED', h.hold, ''::text COLLATE "C"` + keyQueueHolds + ` OR NOT $3` + keyQueueNextType + `
), ` + keyQueueOfTypes(sqlKeyQueueOpen)
	// Reads the jobs of one type in the queue of a concurrency key.
	sqlKeyQueueOfType = `
WITH types (status, hold, type) AS (
  SELECT 'QUEUED', h.hold, $4::text COLLATE "C"` + keyQueueHolds + ` OR NOT $3
), ` + keyQueueOfTypes(keyQueueOpenOf+`$4`)
	sqlKeyTypes = `
WITH RECURSIVE types (status, hold, type) AS (
  SELECT 'QUEUED', h.hold, ''::text COLLATE "C"` + keyQueueHolds + ` OR true` + keyQueueNextType + `
)
SELECT DISTINCT t.type
FROM types t
WHERE t.type <> ''
ORDER BY t.type`
	keyQueueHolds = `
  FROM (VALUES (0), (16)) AS h (hold)
  WHERE h.hold <> 0`
	keyQueueNextType = `
  UNION ALL
  SELECT t.status, t.hold, (
    SELECT min(j.type)` + keyQueueWaiting + ` AND j.type > t.type)
  FROM types t
  WHERE t.type IS NOT NULL`
	keyQueueWaiting = `
  FROM rota_jobs j
  WHERE j.concurrency_key = $1 AND j.sequel IS NULL AND j.status = t.status AND j.hold = t.hold`

	// Jumps from key to key in the index, so that the number of jobs of each does not matter.
	sqlLiveKeys = `
WITH RECURSIVE keys (key, n) AS (
  SELECT (` + nextLiveKey + `$1), 1
  UNION ALL
  SELECT (` + nextLiveKey + `keys.key), n + 1
  FROM keys
  WHERE keys.key IS NOT NULL AND n < $2
)
SELECT key
FROM keys
WHERE key IS NOT NULL
ORDER BY key`
	nextLiveKey = `
    SELECT min(j.concurrency_key)
    FROM rota_jobs j
    WHERE j.sequel IS NULL AND j.concurrency_key > `

	openJobs = `
SELECT count(*)
FROM rota_jobs
WHERE status = 'RUNNING' AND sequel IS NULL`
	sqlOpenOf  = openJobs + ` AND type = $1`
	sqlOpenAll = openJobs + ` AND (type < 'rota.' OR type >= 'rota/')`
)

// keyQueueOfTypes returns the end of the statement that reads a key queue, after the types.
func keyQueueOfTypes(open string) string {
	return `queue (status, hold, type, ready) AS MATERIALIZED (
  SELECT t.status, t.hold, t.type, CASE WHEN t.hold = 0 THEN (
    SELECT count(*)` + keyQueueWaiting + ` AND j.type = t.type) END
  FROM types t
  WHERE t.type <> ''
)
SELECT few.*, t.hold, t.type, t.ready, o.open
FROM (` + open + ` AND NOT $3) o (open)
LEFT JOIN queue t ON true
LEFT JOIN LATERAL (
  (SELECT ` + queuedColumns + rowVersion + keyQueueWaiting + ` AND j.type = t.type AND t.hold = 0
  ORDER BY j.priority, j.position DESC, j.created_at DESC, j.id DESC
  LIMIT $2)
  UNION ALL
  (SELECT ` + queuedColumns + rowVersion + keyQueueWaiting + ` AND j.type = t.type AND t.hold <> 0
  ORDER BY j.priority DESC, j.position, j.created_at, j.id
  LIMIT $2)
) few ON true
ORDER BY t.type, t.hold, few.priority DESC, few.position, few.created_at, few.id`
}

// Column numbers after the columns of a queued job.
var (
	colKeyQueueHold  = storekit.QueuedWidth + 1 // after a queued job and its version
	colKeyQueueType  = colKeyQueueHold + 1
	colKeyQueueReady = colKeyQueueHold + 2
	colKeyQueueOpen  = colKeyQueueHold + 3
)

// loadKeyQueue reads the queue of a concurrency key in dispatch order.
func (t *tx) loadKeyQueue(q rules.KeyQueue, u *rules.UnitOfWork) statement {
	var state rules.KeyQueueState
	sql, params := sqlKeyQueue, []param{textNotNull(q.Key), intParam(int64(q.Limit)), boolParam(q.Unlimited)}
	if q.Type != "" {
		sql, params = sqlKeyQueueOfType, append(params, textNotNull(q.Type))
	}
	return statement{
		sql: sql, params: params,
		eachRow: func(r row) error {
			state.Open = int(r.Int(colKeyQueueOpen))
			if !r.Null(0) {
				t.addKeyQueueJob(r, &state, u)
			}
			return nil
		},
		afterRows: func() {
			for _, one := range state.Types {
				slices.Reverse(one.Last) // last first
			}
			rules.KeyQueues.Put(u, q, state)
		},
	}
}

// loadKeyTypes reads the types of the queued jobs of a concurrency key.
func (t *tx) loadKeyTypes(q rules.KeyTypesQuery, u *rules.UnitOfWork) statement {
	return statement{sql: sqlKeyTypes, params: []param{textNotNull(q.Key)}, eachRow: func(r row) error {
		rules.Append(rules.KeyTypes, u, q, r.Text(0))
		return nil
	}}
}

func (t *tx) addKeyQueueJob(r row, state *rules.KeyQueueState, u *rules.UnitOfWork) {
	name := r.Text(colKeyQueueType)
	if n := len(state.Types); n == 0 || state.Types[n-1].Type != name {
		state.Types = append(state.Types, rules.KeyQueueType{Type: name})
	}
	of := &state.Types[len(state.Types)-1]
	j := t.scanJob(r[:colKeyQueueHold])
	u.PutJob(j)
	if r.Int(colKeyQueueHold) != int64(rota.HoldKey) {
		of.Ready = int(r.Int(colKeyQueueReady))
		of.Last = append(of.Last, j.ID)
		return
	}
	of.Held = append(of.Held, j.ID)
}
