package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

const (
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
func (s *reader) Queue(ctx context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	most, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	if after.IsZero() {
		return s.list(ctx, "queue", sqlQueue, intParam(most))
	}
	from, err := s.Job(ctx, after)
	if err != nil {
		return nil, err
	}
	if !from.Ready() {
		return nil, &rota.Error{
			Code: rota.NotFound, Act: "queue", Field: "after", Reason: "job " + after.String() + " has left the queue",
			Hint: "list the queue again from its head",
		}
	}
	return s.list(ctx, "queue", sqlQueueAfter,
		intParam(most), intParam(int64(from.Priority)), intParam(from.Position), timeParam(from.CreatedAt), idParam(from.ID))
}
