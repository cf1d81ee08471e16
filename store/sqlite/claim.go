package sqlite

import (
	"math"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

var (
	sqlHeads = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_claim
WHERE j.type = $1 AND j.status = 'QUEUED' AND j.hold = 0
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT $2`
	sqlClaimedBefore = `
SELECT id, run_id
FROM rota_jobs INDEXED BY rota_jobs_run
WHERE run_id BETWEEN $1 AND $2 AND run_id IS NOT NULL`
)

// loadHeads merges the type queues in dispatch order. It reads no more of a type queue than the
// capacity of the type.
func (w *writer) loadHeads(h *rules.Heads, u *rules.UnitOfWork) error {
	var queues []*cursor
	defer func() { resetAll(queues) }()
	for i, name := range h.Types {
		queue, err := w.openHeads(i, name, min(h.Limit, h.Capacity[i]))
		if err != nil {
			return err
		}
		queues = append(queues, queue)
	}
	limit := h.Limit
	if !slices.ContainsFunc(h.Types, rota.InternalType) {
		limit = h.Shared
	}
	bytes, taken, shared := 0, 0, 0
	return mergeInOrder(queues, math.MaxInt, func(j *rota.Job) bool {
		if !rota.InternalType(j.Type) {
			if shared == h.Shared {
				return true
			}
			shared++
		}
		if bytes += len(j.Params); bytes > h.Bytes && bytes > len(j.Params) {
			return false
		}
		u.PutHead(j)
		taken++
		return taken < limit
	})
}

// openHeads returns a cursor over a type queue, the i-th that the claim reads.
func (w *writer) openHeads(i int, name string, limit int) (*cursor, error) {
	if w.caller != nil {
		jobs, err := w.caller.heads(name, limit)
		return &cursor{loaded: jobs}, err
	}
	s, err := w.headStmt(i)
	if err != nil {
		return nil, err
	}
	s.BindText(1, name)
	s.BindInt64(2, int64(limit))
	return &cursor{stmt: s}, nil
}

func (w *writer) headStmt(i int) (*sqlite.Stmt, error) {
	if i < len(w.stmts.heads) {
		return w.stmts.heads[i], nil
	}
	s, _, err := w.conn.PrepareTransient(rewrite(sqlHeads))
	if err != nil {
		return nil, err
	}
	w.stmts.heads = append(w.stmts.heads, s)
	return s, nil
}

// loadClaimedBefore reads the jobs that a repeated claim has taken before and that still run. The
// ids of its runs begin with the time bits of the claim's id.
func (w *writer) loadClaimedBefore(t *rules.ClaimedBefore, u *rules.UnitOfWork) error {
	low, high := t.Command, t.Command
	for i := 6; i < len(low); i++ {
		low[i], high[i] = 0, 0xff
	}
	var ids []rota.ID
	err := w.Read(sqlClaimedBefore, func(r storekit.Row) error {
		if id := r.ID(0); r.ID(1) == rota.RunID(t.Command, id) {
			ids = append(ids, id)
		}
		return nil
	}, low, high)
	if err != nil {
		return err
	}
	var taken []*rota.Job
	err = w.loadJobs(ids, func(j *rota.Job) { taken = append(taken, j) })
	slices.SortFunc(taken, storekit.DispatchOrder)
	for _, j := range taken {
		u.PutClaimedBefore(j)
	}
	return err
}
