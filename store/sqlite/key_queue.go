package sqlite

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	sqlKeyQueueOpen = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = $1 AND sequel IS NULL AND status = 'RUNNING'`
	// No running job has a hold; with it, the type is next in the index.
	sqlKeyQueueOpenOf = sqlKeyQueueOpen + ` AND hold = 0 AND type = $2`
	sqlKeyQueueReady  = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = $1 AND sequel IS NULL AND status = 'QUEUED' AND hold = 0 AND type = $2`
	sqlKeyQueueType = `
SELECT min(type)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = $1 AND sequel IS NULL AND status = 'QUEUED' AND hold = $2 AND type > $3`
	sqlKeyQueueLast = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_lane
WHERE j.concurrency_key = $1 AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold = 0 AND j.type = $2
ORDER BY j.priority, j.position DESC, j.created_at DESC, j.id DESC
LIMIT $3`
	sqlKeyQueueHeld = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_lane
WHERE j.concurrency_key = $1 AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold = 16 AND j.type = $2
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT $3`

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
WHERE key IS NOT NULL`
	nextLiveKey = `
    SELECT min(concurrency_key)
    FROM rota_jobs INDEXED BY rota_jobs_lane
    WHERE sequel IS NULL AND concurrency_key > `

	sqlOpenOf = openJobs + ` AND type = $1`
	openJobs  = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_open
WHERE status = 'RUNNING' AND sequel IS NULL`
	// The few internal jobs are adjacent in the index.
	sqlOpenAll = `
SELECT (` + openJobs + `) - (` + openJobs + ` AND ` + internalType + `)`
	internalType = `type >= 'rota.' AND type < 'rota/'`
)

func (w *writer) loadKeyQueue(q rules.KeyQueue, u *rules.UnitOfWork) error {
	var state rules.KeyQueueState
	types, err := []string{q.Type}, error(nil)
	if q.Type == "" {
		types, err = w.keyQueueTypes(q.Key, q.Unlimited)
	}
	switch {
	case err != nil || q.Unlimited:
	case q.Type != "":
		err = w.countKeyQueue(&state.Open, sqlKeyQueueOpenOf, q.Key, q.Type)
	default:
		err = w.countKeyQueue(&state.Open, sqlKeyQueueOpen, q.Key)
	}
	for _, name := range types {
		if err != nil {
			return err
		}
		var t rules.KeyQueueType
		t, err = w.keyQueueOfType(q, name, u)
		state.Types = append(state.Types, t)
	}
	if err == nil {
		rules.KeyQueues.Put(u, q, state)
	}
	return err
}

func (w *writer) loadKeyTypes(q rules.KeyTypesQuery, u *rules.UnitOfWork) error {
	types, err := w.keyQueueTypes(q.Key, false)
	if err == nil {
		rules.KeyTypes.Put(u, q, types)
	}
	return err
}

// keyQueueTypes returns the types with jobs that only the key holds back, and the types with ready
// jobs unless onlyHeld is set. Each type is one lookup, however many jobs it has.
func (w *writer) keyQueueTypes(key string, onlyHeld bool) (types []string, err error) {
	holds := []rota.Hold{rota.HoldKey, 0}
	if onlyHeld {
		holds = holds[:1]
	}
	for _, hold := range holds {
		for last, more := "", true; more && err == nil; {
			err = w.Read(sqlKeyQueueType, func(r storekit.Row) error {
				if more = !r.Null(0); more {
					last = r.Text(0)
					types = append(types, last)
				}
				return nil
			}, key, int(hold), last)
		}
	}
	slices.Sort(types)
	return slices.Compact(types), err
}

func (w *writer) keyQueueOfType(q rules.KeyQueue, name string, u *rules.UnitOfWork) (t rules.KeyQueueType, err error) {
	t.Type = name
	list := func(sql string, into *[]rota.ID) func() error {
		return func() error {
			return w.Read(sql, func(r storekit.Row) error {
				j := storekit.ScanJob(r)
				u.PutJob(j)
				*into = append(*into, j.ID)
				return nil
			}, q.Key, name, q.Limit)
		}
	}
	if err = list(sqlKeyQueueHeld, &t.Held)(); err != nil || q.Unlimited {
		return t, err
	}
	return t, firstError(
		func() error { return w.countKeyQueue(&t.Ready, sqlKeyQueueReady, q.Key, name) },
		list(sqlKeyQueueLast, &t.Last),
	)
}

func (w *writer) countKeyQueue(into *int, sql string, args ...any) error {
	return w.Read(sql, func(r storekit.Row) error {
		*into = int(r.Int(0))
		return nil
	}, args...)
}
