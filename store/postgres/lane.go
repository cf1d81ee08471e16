package postgres

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	laneJobs = `
SELECT count(*)
FROM rota_jobs
WHERE concurrency_key = $1 AND sequel IS NULL`
	sqlLaneOpen  = laneJobs + ` AND status = 'RUNNING'`
	sqlLaneReady = laneJobs + ` AND status = 'QUEUED' AND hold = 0 AND type = $2`

	// The types of which somebody is held back by the key alone or, if that
	// matters, stands in the order, are found one after the other, so the many jobs
	// of each cost nothing. What the key holds back has the hold 16.
	//
	// That the status and the hold are compared with columns keeps PostgreSQL to the
	// index of the lanes: those of claims and of the order are sorted alike, but are
	// of all keys, and while they are short they seem as good.
	sqlLane = `
WITH RECURSIVE types (status, hold, type) AS (
  SELECT 'QUEUED', h.hold, ''::text COLLATE "C"
  FROM (VALUES (0), (16)) AS h (hold)
  WHERE h.hold <> 0 OR NOT $3
  UNION ALL
  SELECT t.status, t.hold, (
    SELECT min(j.type)` + laneQueued + ` AND j.type > t.type)
  FROM types t
  WHERE t.type IS NOT NULL
), lane (status, hold, type, ready) AS MATERIALIZED (
  SELECT t.status, t.hold, t.type, CASE WHEN t.hold = 0 THEN (
    SELECT count(*)` + laneQueued + ` AND j.type = t.type) END
  FROM types t
  WHERE t.type <> ''
)
SELECT few.*, t.hold, t.type, t.ready, o.open
FROM (` + sqlLaneOpen + ` AND NOT $3) o (open)
LEFT JOIN lane t ON true
LEFT JOIN LATERAL (
  (SELECT ` + queuedColumns + rowVersion + laneQueued + ` AND j.type = t.type AND t.hold = 0
  ORDER BY j.priority, j.position DESC, j.created_at DESC, j.id DESC
  LIMIT $2)
  UNION ALL
  (SELECT ` + queuedColumns + rowVersion + laneQueued + ` AND j.type = t.type AND t.hold <> 0
  ORDER BY j.priority DESC, j.position, j.created_at, j.id
  LIMIT $2)
) few ON true
ORDER BY t.type, t.hold, few.priority DESC, few.position, few.created_at, few.id`
	laneQueued = `
  FROM rota_jobs j
  WHERE j.concurrency_key = $1 AND j.sequel IS NULL AND j.status = t.status AND j.hold = t.hold`

	openJobs = `
SELECT count(*)
FROM rota_jobs
WHERE status = 'RUNNING' AND sequel IS NULL`
	sqlOpenOf  = openJobs + ` AND type = $1`
	sqlOpenAll = openJobs + ` AND (type < 'rota.' OR type >= 'rota/')`
)

// The places of what comes with the jobs of a lane.
const (
	colLaneHold = colParams + 2 + iota // behind a queued job and its version
	colLaneType
	colLaneReady
	colLaneOpen
)

// loadLane reads all of a lane in dispatch order.
func (t *tx) loadLane(q rules.KeyQueue, w *rules.UnitOfWork) ask {
	var view rules.KeyQueueState
	params := []param{textAlways(q.Key), intParam(int64(q.Limit)), boolParam(q.Unlimited)}
	return ask{
		sql: sqlLane, params: params,
		each: func(r row) error {
			view.Open = int(r.int(colLaneOpen))
			if !r.null(colLaneType) {
				t.laneJob(r, &view, w)
			}
			return nil
		},
		end: func() {
			for _, one := range view.Types {
				slices.Reverse(one.Last) // last first
			}
			w.PutKeyQueue(q, view)
		},
	}
}

func (t *tx) laneJob(r row, view *rules.KeyQueueState, w *rules.UnitOfWork) {
	name := r.text(colLaneType)
	if n := len(view.Types); n == 0 || view.Types[n-1].Type != name {
		view.Types = append(view.Types, rules.KeyQueueType{Type: name})
	}
	of := &view.Types[len(view.Types)-1]
	j := t.job(r[:colLaneHold])
	w.PutJob(j)
	if r.int(colLaneHold) != int64(rota.HoldKey) {
		of.Ready = int(r.int(colLaneReady))
		of.Last = append(of.Last, j.ID)
		return
	}
	of.Held = append(of.Held, j.ID)
}

func (t *tx) loadOpen(q rules.Open, w *rules.UnitOfWork) ask {
	a := ask{sql: sqlOpenAll, each: func(r row) error {
		w.PutOpen(q, int(r.int(0)))
		return nil
	}}
	switch {
	case q.Key != "":
		a.sql, a.params = sqlLaneOpen, []param{textAlways(q.Key)}
	case q.Type != "":
		a.sql, a.params = sqlOpenOf, []param{textAlways(q.Type)}
	}
	return a
}
