package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// status LIKE 'QUEUED' instead of = restricts the planner to jobs_order, the index of the whole
// queue.
const (
	sqlTails = `
SELECT v.priority, c.id, c.position
FROM unnest($1) AS v (priority)
CROSS JOIN LATERAL (
  SELECT j.id, j.position
  FROM rota_jobs j
  WHERE j.status LIKE 'QUEUED' AND j.priority = v.priority
  ORDER BY j.priority, j.position DESC
  LIMIT $2) c`
	fromPlace = `
WITH place AS (
  SELECT coalesce(max(position), $4) AS position, coalesce(max(created_at), $4) AS created_at
  FROM rota_jobs
  WHERE id = $2)
SELECT ` + jobColumns + `, NULL` + runColumns + rowVersion + `
FROM rota_jobs j, place p
WHERE j.status LIKE 'QUEUED' AND j.priority = $1 AND (j.position, j.created_at, j.id)`
	sqlOrderAhead = fromPlace + ` > (p.position, p.created_at, $2)
ORDER BY j.position, j.created_at, j.id
LIMIT $3`
	sqlOrderBack = fromPlace + ` < (p.position, p.created_at, $2)
ORDER BY j.position DESC, j.created_at DESC, j.id DESC
LIMIT $3`
)

// tailsFirst is how many of the last jobs of a priority are read at first. Mostly the last one is
// accepted. If the batch has moved all of them, many more are read.
const tailsFirst = 4

// loadTails reads the last jobs of priorities until the unit of work accepts one of each.
func (t *tx) loadTails(priorities []int, u *rules.UnitOfWork) []statement {
	if len(priorities) == 0 || t.assumeEmpty(priorities) {
		return nil
	}
	t.tails = map[int]tailOffer{}
	return []statement{t.tailsStatement(priorities, tailsFirst, u)}
}

// tailOffer counts the jobs offered for one priority, and records whether one was accepted.
type tailOffer struct {
	offered int
	taken   bool
}

func (t *tx) tailsStatement(priorities []int, most int64, u *rules.UnitOfWork) statement {
	return statement{sql: sqlTails, params: []param{intsParam(priorities), intParam(most)}, eachRow: func(r row) error {
		priority := int(r.int(0))
		if o := t.tails[priority]; !o.taken {
			t.tails[priority] = tailOffer{o.offered + 1, u.PutTail(priority, r.id(1), r.int(2))}
		}
		return nil
	}, afterRows: func() {
		for _, p := range priorities {
			t.store.idlePath.observeTail(p, t.tails[p].offered == 0)
		}
	}}
}

// loadMoreTails reads more jobs of the priorities of which none was accepted.
func (t *tx) loadMoreTails(priorities []int, u *rules.UnitOfWork) error {
	var left []int
	for _, p := range priorities {
		if o := t.tails[p]; o.offered == tailsFirst && !o.taken {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return t.read(t.tailsStatement(left, rota.OrderMax*2, u))
}

// Positions beyond all jobs.
const (
	placeFirst = -1 << 63
	placeLast  = 1<<63 - 1
)

// loadOrder reads a page of the order in one direction, from a job or from the end.
func (t *tx) loadOrder(p rules.OrderPage, u *rules.UnitOfWork) statement {
	sql, beyond := sqlOrderAhead, int64(placeFirst)
	if p.Back {
		sql, beyond = sqlOrderBack, placeLast
	}
	return statement{sql: sql, params: []param{
		intParam(int64(p.Priority)), {oidID, p.From[:]}, intParam(int64(p.Limit)), intParam(beyond),
	}, eachRow: func(r row) error {
		u.PutPage(p, t.scanJob(r))
		return nil
	}}
}
