package postgres

import (
	"math"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The heads of the lanes are merged in dispatch order. A lane is looked down some
// way further than what is wanted, since others may have locked the first; of the
// merged order exactly those are locked that are taken, one after the other until
// there are enough, or another claimer would pass over what nobody takes. A lane
// is left when its room is used up: of a limited one nobody else takes anything
// meanwhile. A lane is asked for as a stretch, from its type to its type, in the
// order of types: no other index will do. For a type that is equal any would, and
// once PostgreSQL has seen a long queue it walks all of that for a lane that is
// empty. That a job still stands there is asked for in words that fit no index, or
// one of those would be walked for each id. How many were looked at is answered
// even when none is free.
const (
	ranked = `
WITH ranked AS MATERIALIZED (
  SELECT c.id, c.own, row_number() OVER line AS place,
    count(*) FILTER (WHERE NOT c.own) OVER line AS shared,
    sum(c.bytes) OVER line AS bytes,
    c.bytes AS mine
  FROM unnest($1, $2) AS lane (type, room)
  CROSS JOIN LATERAL (
    SELECT j.id, j.priority, j.position, j.created_at, octet_length(j.params) AS bytes,
      j.type >= 'rota.' AND j.type < 'rota/' AS own
    FROM rota_jobs j
    WHERE j.type BETWEEN lane.type AND lane.type AND j.status = 'QUEUED' AND j.hold = 0
    ORDER BY j.type, j.priority DESC, j.position, j.created_at, j.id
    LIMIT lane.room) c
  WINDOW line AS (ORDER BY c.priority DESC, c.position, c.created_at, c.id ROWS UNBOUNDED PRECEDING)
  ORDER BY c.priority DESC, c.position, c.created_at, c.id
)
SELECT s.n, h.*
FROM (SELECT count(*) AS n FROM ranked) s
LEFT JOIN LATERAL (
  SELECT j.*
  FROM ranked r
  CROSS JOIN LATERAL (
    SELECT ` + queuedColumns + rowVersion + `
    FROM rota_jobs j
    WHERE j.id = r.id AND coalesce(j.status, '') = 'QUEUED' AND coalesce(j.hold, 1) = 0`
	rankedWithinCapacity = `) j
  WHERE (r.own OR r.shared <= $4) AND (r.bytes <= $5 OR r.bytes = r.mine)`
	rankedEnd = `
  LIMIT $3) h ON true`

	// What is to be locked is looked at in the order that the jobs were ranked in, one
	// after the other; to sort it would lock all of it. What is not locked PostgreSQL
	// joins as it likes, and has to sort.
	sqlHeadsLocked = ranked + `
    FOR UPDATE SKIP LOCKED` + rankedWithinCapacity + rankedEnd
	sqlHeads = ranked + rankedWithinCapacity + `
  ORDER BY r.place` + rankedEnd

	// Where all that is ready stands in one lane, the order is walked from lock to
	// lock, and nothing is looked at that is not taken.
	sqlSingleType = `
SELECT ` + queuedColumns + rowVersion + `
FROM rota_jobs j
WHERE j.type BETWEEN $1 AND $1 AND j.status = 'QUEUED' AND j.hold = 0
  AND NOT ` + someReady + `
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $4)
ORDER BY j.type, j.priority DESC, j.position, j.created_at, j.id
LIMIT $3
FOR UPDATE OF j SKIP LOCKED`

	// Where a step makes jobs itself, mostly nothing else is there to take, and the
	// claim was not sent before.
	sqlAnythingElse = `
SELECT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $1) OR ` + someReady

	// Whether anything is ready in some lanes.
	someReady = `EXISTS (
    SELECT
    FROM unnest($2) AS lane (type)
    CROSS JOIN LATERAL (
      SELECT
      FROM rota_jobs o
      WHERE o.type BETWEEN lane.type AND lane.type AND o.status = 'QUEUED' AND o.hold = 0
      ORDER BY o.type
      LIMIT 1) o)`

	sqlClaimedBefore = `
SELECT 1, j.*
FROM (SELECT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $1) AS before) took
LEFT JOIN LATERAL (
  SELECT ` + fullColumns + rowVersion + `
  FROM rota_jobs j
  WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.run_id BETWEEN $2 AND $3) j ON true
WHERE took.before`
)

// loadClaim reads what a claim took when it was sent before, and what is there to
// take. Where both are asked for, the first is hardly ever anything: a claim that
// finds something in the lane that it knows of sees that on the way.
func (t *tx) loadClaim(n *rules.Need, u *rules.UnitOfWork) []statement {
	if u.ClaimAfterEnqueues() && n.ClaimedBefore != nil && t.pessimistic { // it would lock what the enqueues have looked at, and others would pass over that
		u.PutMoreHeads()
	}
	if n.Heads != nil && n.Heads.AfterEnqueues {
		if t.assumeNothingReady(n) {
			return nil
		}
		return []statement{t.loadAnythingElse(n, u)}
	}
	if h := n.Heads; h != nil && !t.mergesTypes {
		if typ := t.store.singleType.typ(); typ != "" && t.locksHeads(u) && h.Unlimited() && slices.Contains(h.Types, typ) {
			return []statement{t.loadSingleTypeHeads(typ, n, u)}
		}
	}
	return append(ifNeeded(n.ClaimedBefore, u, t.loadClaimedBefore), ifNeeded(n.Heads, u, t.loadHeads)...)
}

// loadAnythingElse asks whether a claim may find more than the jobs that its own step
// makes.
func (t *tx) loadAnythingElse(n *rules.Need, u *rules.UnitOfWork) statement {
	var command rota.ID
	if n.ClaimedBefore != nil {
		command = n.ClaimedBefore.Command
	}
	return statement{sql: sqlAnythingElse, params: []param{idParam(command), textsParam(n.Heads.Types)}, eachRow: func(r row) error {
		if r.bool(0) {
			u.PutMoreHeads()
		}
		t.store.idlePath.observeReady(!r.bool(0))
		return nil
	}}
}

// loadHeads locks what it reads, unless the step is sure to be decided again:
// then somebody could pass over what is locked and not taken in the end. Where
// others hold so much of what was looked at that not enough is left, there may be
// more behind it: whoever claims is told so, and the next look goes further.
func (t *tx) loadHeads(h *rules.Heads, u *rules.UnitOfWork) statement {
	var heads []*rota.Job
	depth, seen := t.depth(h.Limit), 0
	capacity := make([]int, len(h.Capacity))
	for i, free := range h.Capacity {
		if capacity[i] = free; free >= h.Limit {
			capacity[i] = depth
		}
	}
	limit := h.Limit
	if !slices.ContainsFunc(h.Types, rota.InternalType) {
		limit = min(limit, h.Shared)
	}
	sharedCapacity := h.Shared
	if h.Shared >= h.Limit { // it does not bind, and of those counted others may have locked some
		sharedCapacity = math.MaxInt32
	}
	sql := sqlHeads
	if t.locksHeads(u) {
		sql, t.holdsRows, t.lockedHeads = sqlHeadsLocked, true, true
	}
	return statement{sql: sql, params: []param{
		textsParam(h.Types), intsParam(capacity), intParam(int64(limit)), intParam(int64(sharedCapacity)), intParam(int64(h.Bytes)),
	}, eachRow: func(r row) error {
		if seen = int(r.int(0)); !r.null(1) {
			heads = append(heads, t.scanJob(r[1:]))
		}
		return nil
	}, afterRows: func() {
		slices.SortFunc(heads, dispatchOrder)
		for _, j := range heads {
			u.PutHead(j)
		}
		t.store.singleType.observe(heads, h)
		fitsAnswer := 2*paramsBytes(heads) < h.Bytes // or the answer is full
		switch again := t.store.lookahead.observe(len(heads) < limit && seen >= depth && fitsAnswer); {
		case again && len(heads) == 0:
			t.readFurther = true
		case again:
			u.PutMoreHeads()
		}
	}}
}

// loadMoreHeads looks further when others hold all that was looked at, and
// everywhere when there is nothing in the lane that was known. Nothing is locked
// then that might not be taken. A claim that turns out to have been sent before
// takes nothing, and is done again.
func (t *tx) loadMoreHeads(n *rules.Need, u *rules.UnitOfWork) error {
	for {
		switch {
		case t.exceedsAnswerBytes, t.claimRepeated && n.ClaimedBefore != nil && n.Heads != nil:
			return errReadSetChanged
		case !t.readFurther:
			return nil
		}
		t.readFurther = false
		if err := t.read(t.loadClaim(n, u)...); err != nil {
			return err
		}
	}
}

// depth is how far down a lane a claim looks: as far as others of this process
// and of others are known to take from it at the same time.
func (t *tx) depth(limit int) int {
	if t.claimDemand == 0 {
		t.claimDemand = int64(limit)
		t.store.claimDemand.Add(t.claimDemand)
	}
	return max(limit, int(t.store.claimDemand.Load())) + t.store.lookahead.size()
}

// locksHeads says whether what bounds a claim is locked, as far as it is known.
func (t *tx) locksHeads(u *rules.UnitOfWork) bool {
	l := u.Locks()
	for _, name := range l.Open {
		if t.held[lockFor(classOpen, name)] != exclusive {
			return false
		}
	}
	return t.passes > 1 || !u.HasKeyLimits()
}

// loadClaimedBefore finds what a claim took when it was sent before, and still runs: the
// ids of its runs begin with its time bits.
func (t *tx) loadClaimedBefore(q *rules.ClaimedBefore, u *rules.UnitOfWork) statement {
	low, high := q.Command, q.Command
	for i := 6; i < len(low); i++ {
		low[i], high[i] = 0, 0xff
	}
	var taken []*rota.Job
	return statement{sql: sqlClaimedBefore, params: []param{idParam(q.Command), idParam(low), idParam(high)}, eachRow: func(r row) error {
		u.PutClaimRepeated()
		t.claimRepeated = true
		if r.null(1) {
			return nil
		}
		if j := t.scanJob(r[1:]); j.Run != nil && j.Run.ID == rota.RunID(q.Command, j.ID) {
			taken = append(taken, j)
		}
		return nil
	}, afterRows: func() {
		slices.SortFunc(taken, dispatchOrder)
		for _, j := range taken {
			u.PutClaimedBefore(j)
		}
	}}
}

func dispatchOrder(a, b *rota.Job) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

// scanJob reads a job and notes in which version.
func (t *tx) scanJob(r row) *rota.Job {
	j := scanJob(r)
	t.readSet.addJob(j.ID, r.xid(len(r)-1))
	return j
}

// scanLease is the same for what a lease is about.
func (t *tx) scanLease(r row) *rota.Job {
	j := scanLease(r)
	t.readSet.addJob(j.ID, r.xid(len(r)-1))
	return j
}
