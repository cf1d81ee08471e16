package postgres

import (
	"math"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// ranked merges the type queues in dispatch order. It reads each queue somewhat further than the
// claim's limit, because other claims may have locked the first jobs. Of the merged order it locks
// exactly the jobs that the claim takes, one after the other: other claims would skip a job that is
// locked and not taken. It stops reading a queue at the capacity of its type; of a limited type no
// other claim takes jobs at the same time.
//
// The condition type BETWEEN x AND x with ORDER BY type forces the planner onto the per-type index.
// With type = x other indexes fit as well, and with statistics of a long queue the planner scans
// all of it for an empty type; see decision 0009. The inner check of status and hold is written so
// that no index fits, or the planner would scan one for each id. The number of jobs read that the
// shared limit allows is returned even if none is free.
var (
	ranked = `
WITH ranked AS MATERIALIZED (
  SELECT c.id, c.own, row_number() OVER line AS place,
    count(*) FILTER (WHERE NOT c.own) OVER line AS shared,
    sum(c.bytes) OVER line AS bytes,
    c.bytes AS mine
  FROM unnest($1, $2) AS queue (type, capacity)
  CROSS JOIN LATERAL (
    SELECT j.id, j.priority, j.position, j.created_at, octet_length(j.params) AS bytes,
      j.type >= 'rota.' AND j.type < 'rota/' AS own
    FROM rota_jobs j
    WHERE j.type BETWEEN queue.type AND queue.type AND j.status = 'QUEUED' AND j.hold = 0
    ORDER BY j.type, j.priority DESC, j.position, j.created_at, j.id
    LIMIT queue.capacity) c
  WINDOW line AS (ORDER BY c.priority DESC, c.position, c.created_at, c.id ROWS UNBOUNDED PRECEDING)
  ORDER BY c.priority DESC, c.position, c.created_at, c.id
)
SELECT s.n, h.*
FROM (SELECT count(*) FILTER (WHERE own OR shared <= $4) AS n FROM ranked) s
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

	// The locking variant follows the order of ranked, because a sort would lock every row. The
	// other variant lets the planner join as it likes, and sorts.
	sqlHeadsLocked = ranked + `
    FOR UPDATE SKIP LOCKED` + rankedWithinCapacity + rankedEnd
	sqlHeads = ranked + rankedWithinCapacity + `
  ORDER BY r.place` + rankedEnd

	sqlClaimedBefore = `
SELECT 1, j.*
FROM (SELECT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $1) AS before) took
LEFT JOIN LATERAL (
  SELECT ` + fullColumns + rowVersion + `
  FROM rota_jobs j
  WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.run_id BETWEEN $2 AND $3) j ON true
WHERE took.before`
)

// claimState is what a transaction knows of its claim.
type claimState struct {
	demand             int64 // limit of the claim, counted in the store's claimDemand
	lockedHeads        bool  // has locked jobs that it may not take
	repeated           bool  // the claim has taken jobs before
	exceedsAnswerBytes bool  // its jobs do not fit into an answer
	readFurther        bool  // other transactions hold all jobs that were read
	lookahead          int   // how many jobs it reads at least
	mergesTypes        bool  // the single type had no job: merge the type queues
}

// someReady reports whether a job of the given types is ready.
const someReady = `EXISTS (
    SELECT
    FROM unnest($2) AS queue (type)
    CROSS JOIN LATERAL (
      SELECT
      FROM rota_jobs o
      WHERE o.type BETWEEN queue.type AND queue.type AND o.status = 'QUEUED' AND o.hold = 0
      ORDER BY o.type
      LIMIT 1) o)`

// loadClaim reads the jobs that a repeated claim has taken before, and the candidates of the claim.
// The statement for a single type checks for a repeated claim itself.
func (t *tx) loadClaim(n rules.Orders, u *rules.UnitOfWork) []statement {
	if t.putUnsentHeads(n, u) {
		return nil
	}
	if h := n.Heads; h != nil && !t.claim.mergesTypes && t.store.uses(SingleType) {
		if typ := t.store.singleType.current(); typ != "" && t.locksHeads(u) && h.Unlimited() && slices.Contains(h.Types, typ) {
			return []statement{t.loadSingleTypeHeads(typ, n, u)}
		}
	}
	return append(ifNeeded(n.ClaimedBefore, u, t.loadClaimedBefore), ifNeeded(n.Heads, u, t.loadHeads)...)
}

// loadHeads reads the candidates of a claim, and locks them unless the claim is certain to be
// decided again: other claims would skip jobs that are locked and not taken in the end. If other
// transactions hold some of the jobs, there may be more behind them, and the claim reports More. If
// they hold all, the claim reads further.
func (t *tx) loadHeads(h *rules.Heads, u *rules.UnitOfWork) statement {
	var heads []*rota.Job
	depth, scanned := t.scanDepth(h.Limit), 0
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
	if h.Shared >= h.Limit { // the shared limit does not restrict this claim, and other claims may have locked some of the jobs it counts
		sharedCapacity = math.MaxInt32
	}
	sql := sqlHeads
	if t.locksHeads(u) {
		sql, t.locks.holdsRows, t.claim.lockedHeads = sqlHeadsLocked, true, true
	}
	return statement{sql: sql, params: []param{
		textsParam(h.Types), intsParam(capacity), intParam(int64(limit)), intParam(int64(sharedCapacity)), intParam(int64(h.Bytes)),
	}, eachRow: func(r row) error {
		if scanned = int(r.Int(0)); !r.Null(1) {
			heads = append(heads, t.scanJob(r[1:]))
		}
		return nil
	}, afterRows: func() {
		slices.SortFunc(heads, storekit.DispatchOrder)
		for _, j := range heads {
			u.PutHead(j)
		}
		t.store.singleType.observe(heads, h)
		fitsAnswer := 2*paramsBytes(heads) < h.Bytes // otherwise the answer is full
		switch short := len(heads) < limit && scanned >= depth && fitsAnswer; {
		case short && len(heads) == 0 && depth < lookaheadMax:
			t.claim.readFurther, t.claim.lookahead = true, max(lookaheadMin, 2*depth)
		case short:
			u.PutMoreHeads()
		}
	}}
}

// loadMoreHeads reads further if other transactions hold all jobs read so far, and reads all types
// if the single type had no job. Nothing that the claim may not take is locked then. A claim that
// turns out to be repeated is decided again.
func (t *tx) loadMoreHeads(n rules.Orders, u *rules.UnitOfWork) error {
	for {
		switch {
		case t.claim.exceedsAnswerBytes, t.claim.repeated && n.ClaimedBefore != nil && n.Heads != nil:
			return errReadSetChanged
		case !t.claim.readFurther:
			return nil
		}
		t.claim.readFurther = false
		if err := t.read(t.loadClaim(n, u)...); err != nil {
			return err
		}
	}
}

// First and largest number of jobs that a claim reads after it has found none.
const (
	lookaheadMin = 64
	lookaheadMax = 1 << 16
)

// scanDepth returns how many jobs of a type queue a claim reads: enough to pass the jobs that the
// other claims of this process take at the same time, and after it has found none twice as many.
func (t *tx) scanDepth(limit int) int {
	if t.claim.demand == 0 {
		t.claim.demand = int64(limit)
		t.store.claimDemand.Add(t.claim.demand)
	}
	return max(limit, int(t.store.claimDemand.Load()), t.claim.lookahead)
}

// locksHeads reports whether a claim locks the candidates that it reads. It does so once it holds
// the locks of all limits that it knows of: then the decision will not be made again.
func (t *tx) locksHeads(u *rules.UnitOfWork) bool {
	l := u.Locks()
	for _, k := range l.Names {
		if k.Class == rules.LockOpen && t.locks.held[lockFor(k.Class, k.Name)] != exclusive {
			return false
		}
	}
	return t.readSet.passes > 1 || !u.HasKeyLimits()
}

// loadClaimedBefore reads the jobs that a repeated claim has taken before and that still run. The
// ids of its runs begin with the time bits of the claim's id.
func (t *tx) loadClaimedBefore(q *rules.ClaimedBefore, u *rules.UnitOfWork) statement {
	low, high := q.Command, q.Command
	for i := 6; i < len(low); i++ {
		low[i], high[i] = 0, 0xff
	}
	var taken []*rota.Job
	return statement{sql: sqlClaimedBefore, params: []param{idParam(q.Command), idParam(low), idParam(high)}, eachRow: func(r row) error {
		u.PutClaimRepeated()
		t.claim.repeated = true
		if r.Null(1) {
			return nil
		}
		if j := t.scanJob(r[1:]); j.Run != nil && j.Run.ID == rota.RunID(q.Command, j.ID) {
			taken = append(taken, j)
		}
		return nil
	}, afterRows: func() {
		slices.SortFunc(taken, storekit.DispatchOrder)
		for _, j := range taken {
			u.PutClaimedBefore(j)
		}
	}}
}

// scanJob reads a job and adds its version to the read set.
func (t *tx) scanJob(r row) *rota.Job {
	j := scanJob(r)
	t.readSet.addJob(j.ID, r.xid(len(r)-1))
	return j
}

// scanLease reads the lease columns of a job and adds its version to the read set.
func (t *tx) scanLease(r row) *rota.Job {
	j := scanLease(r)
	t.readSet.addJob(j.ID, r.xid(len(r)-1))
	return j
}
