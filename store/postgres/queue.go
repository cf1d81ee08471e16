package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	// readyTypes finds the types with ready jobs. It jumps from type to type in the index, however
	// many jobs each has.
	readyTypes = `
WITH RECURSIVE queues (type) AS (
  (
    SELECT j.type
    FROM rota_jobs j
    WHERE j.status = 'QUEUED' AND j.hold = 0
    ORDER BY j.type
    LIMIT 1
  )
  UNION ALL
  SELECT next.type
  FROM queues
  CROSS JOIN LATERAL (
    SELECT j.type
    FROM rota_jobs j
    WHERE j.status = 'QUEUED' AND j.hold = 0 AND j.type > queues.type
    ORDER BY j.type
    LIMIT 1
  ) next
)`
	// The condition on the type is the same as in a claim, and for the same reason.
	inTypeQueue = `
    SELECT j.id, j.priority, j.position, j.created_at
    FROM rota_jobs j
    WHERE j.type BETWEEN queues.type AND queues.type AND j.status = 'QUEUED' AND j.hold = 0`
	typeQueueOrder = `
    ORDER BY j.type, j.priority DESC, j.position, j.created_at, j.id
    LIMIT $1`

	mergeTypeQueues = readyTypes + `
SELECT ` + queuedColumns + `
FROM (
  SELECT head.id
  FROM queues
  CROSS JOIN LATERAL (`
	mergedPage = `
  ) head
  WHERE queues.type < 'rota.' OR queues.type >= 'rota/'
  ORDER BY head.priority DESC, head.position, head.created_at, head.id
  LIMIT $1
) page
JOIN rota_jobs j ON j.id = page.id
ORDER BY j.priority DESC, j.position, j.created_at, j.id`

	sqlQueue = mergeTypeQueues + inTypeQueue + typeQueueOrder + mergedPage
	// After a job follow the rest of its priority and all lower priorities.
	sqlQueueAfter = mergeTypeQueues + `
    (` + inTypeQueue + ` AND j.priority = $2 AND (j.position, j.created_at, j.id) > ($3, $4, $5)` + typeQueueOrder + `)
    UNION ALL
    (` + inTypeQueue + ` AND j.priority < $2` + typeQueueOrder + `)` + mergedPage
)

// Queue lists the ready jobs in dispatch order. Like a claim it merges the type queues, so that
// jobs on hold cost nothing.
func (s *reader) Queue(ctx context.Context, after rota.ID, limit int) (jobs []*rota.Job, err error) {
	most, err := storekit.PageLimit(limit)
	if err != nil {
		return nil, err
	}
	from, err := storekit.QueueStart(ctx, &s.Reader, after)
	if err != nil {
		return nil, err
	}
	sql, args := sqlQueue, []any{most}
	if from != nil {
		sql, args = sqlQueueAfter, []any{most, from.Priority, from.Position, from.CreatedAt, from.ID}
	}
	err = s.query(ctx, "queue", statementOf(sql, func(r storekit.Row) error {
		jobs = append(jobs, storekit.ScanListed(r))
		return nil
	}, args))
	return jobs, err
}
