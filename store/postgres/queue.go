package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

const (
	// readyTypes are the types of which something is ready: each is found behind the
	// one before it, however many jobs it has.
	readyTypes = `
WITH RECURSIVE lanes (type) AS (
  (
    SELECT j.type
    FROM rota_jobs j
    WHERE j.status = 'QUEUED' AND j.hold = 0
    ORDER BY j.type
    LIMIT 1
  )
  UNION ALL
  SELECT next.type
  FROM lanes
  CROSS JOIN LATERAL (
    SELECT j.type
    FROM rota_jobs j
    WHERE j.status = 'QUEUED' AND j.hold = 0 AND j.type > lanes.type
    ORDER BY j.type
    LIMIT 1
  ) next
)`
	// A lane is asked for as a stretch of types, as in a claim.
	inTypeQueue = `
    SELECT j.id, j.priority, j.position, j.created_at
    FROM rota_jobs j
    WHERE j.type BETWEEN lanes.type AND lanes.type AND j.status = 'QUEUED' AND j.hold = 0`
	typeQueueOrder = `
    ORDER BY j.type, j.priority DESC, j.position, j.created_at, j.id
    LIMIT $1`

	mergeTypeQueues = readyTypes + `
SELECT ` + queuedColumns + `
FROM (
  SELECT head.id
  FROM lanes
  CROSS JOIN LATERAL (`
	mergedPage = `
  ) head
  WHERE lanes.type < 'rota.' OR lanes.type >= 'rota/'
  ORDER BY head.priority DESC, head.position, head.created_at, head.id
  LIMIT $1
) page
JOIN rota_jobs j ON j.id = page.id
ORDER BY j.priority DESC, j.position, j.created_at, j.id`

	sqlQueue = mergeTypeQueues + inTypeQueue + typeQueueOrder + mergedPage
	// What follows a job is the rest of its priority, and all that is lower.
	sqlQueueAfter = mergeTypeQueues + `
    (` + inTypeQueue + ` AND j.priority = $2 AND (j.position, j.created_at, j.id) > ($3, $4, $5)` + typeQueueOrder + `)
    UNION ALL
    (` + inTypeQueue + ` AND j.priority < $2` + typeQueueOrder + `)` + mergedPage
)

// Queue lists what is ready in dispatch order. Like a claim it merges the
// lanes, so jobs that are held back cost it nothing.
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
			Hint: "begin again at the head",
		}
	}
	return s.list(ctx, "queue", sqlQueueAfter,
		intParam(most), intParam(int64(from.Priority)), intParam(from.Position), timeParam(from.CreatedAt), idParam(from.ID))
}
