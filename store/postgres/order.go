package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The order of the whole queue has an index that is asked for by name: where the
// status is LIKE, not equal.
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

// tailsFirst is how many of the last jobs of a priority are offered at once. The
// last is mostly taken; where many have left their place in this very step, all
// are offered.
const tailsFirst = 4

// loadTails offers the last jobs of priorities until one of each is taken.
func (t *tx) loadTails(priorities []int, u *rules.UnitOfWork) []statement {
	if len(priorities) == 0 || t.assumeEmpty(priorities) {
		return nil
	}
	t.tails = map[int]tailOffer{}
	return []statement{t.tailsStatement(priorities, tailsFirst, u)}
}

// tailOffer is how an offer went.
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

// loadMoreTails goes on where all that were offered had left.
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

// Beyond any place there is.
const (
	placeFirst = -1 << 63
	placeLast  = 1<<63 - 1
)

// loadOrder reads a page of the order: from a job on, or from the end that it
// walks away from.
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
