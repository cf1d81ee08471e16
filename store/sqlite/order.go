package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	sqlTail = `
SELECT id, position
FROM rota_jobs INDEXED BY rota_jobs_order
WHERE status = 'QUEUED' AND priority = $1
ORDER BY position DESC, created_at DESC, id DESC
LIMIT $2`
	sqlOrderAhead = `
SELECT ` + storekit.QueuedLean + `
FROM rota_jobs j INDEXED BY rota_jobs_order
WHERE j.status = 'QUEUED' AND j.priority = $1 AND (j.position, j.created_at, j.id) > ($2, $3, $4)
ORDER BY j.position, j.created_at, j.id
LIMIT $5`
	sqlOrderBack = `
SELECT ` + storekit.QueuedLean + `
FROM rota_jobs j INDEXED BY rota_jobs_order
WHERE j.status = 'QUEUED' AND j.priority = $1 AND (j.position, j.created_at, j.id) < ($2, $3, $4)
ORDER BY j.position DESC, j.created_at DESC, j.id DESC
LIMIT $5`
	sqlLowerPriority = `
SELECT priority
FROM rota_jobs INDEXED BY rota_jobs_order
WHERE status = 'QUEUED' AND priority < $1
ORDER BY priority DESC
LIMIT 1`
	sqlPosition = `
SELECT position, created_at
FROM rota_jobs
WHERE id = $1`
)

// loadTail reads the last jobs of a priority.
func (w *writer) loadTail(q rules.Tail, u *rules.UnitOfWork) error {
	return w.Read(sqlTail, func(r storekit.Row) error {
		rules.Append(rules.Tails, u, q, rules.LastJob{ID: r.ID(0), Position: r.Int(1)})
		return nil
	}, q.Priority, q.Count)
}

func (w *writer) loadOrder(p rules.OrderPage, u *rules.UnitOfWork) error {
	position, created, err := w.startPosition(p)
	if err != nil {
		return err
	}
	sql := sqlOrderAhead
	if p.Back {
		sql = sqlOrderBack
	}
	return w.Read(sql, func(r storekit.Row) error {
		rules.AppendJob(rules.OrderPages, u, p, storekit.ScanJob(r))
		return nil
	}, p.Priority, position, created, p.From, p.Limit)
}

// loadLowerPriority reads the next lower priority that has QUEUED jobs.
func (w *writer) loadLowerPriority(priority int, u *rules.UnitOfWork) error {
	return w.Read(sqlLowerPriority, func(r storekit.Row) error {
		rules.LowerPriorities.Put(u, priority, new(int(r.Int(0))))
		return nil
	}, priority)
}

// Positions before and after all jobs.
const (
	positionFirst int64 = -1 << 63
	positionLast  int64 = 1<<63 - 1
)

// startPosition returns where a page begins: at a job, or at one end of the order.
func (w *writer) startPosition(p rules.OrderPage) (position, created int64, err error) {
	if p.From == (rota.ID{}) {
		if p.Back {
			return positionLast, positionLast, nil
		}
		return positionFirst, positionFirst, nil
	}
	err = w.Read(sqlPosition, func(r storekit.Row) error {
		position, created = r.Int(0), r.Int(1)
		return nil
	}, p.From)
	return position, created, err
}
