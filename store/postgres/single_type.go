package postgres

import (
	"slices"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// The claim of a single type is a fast path for a queue in which all ready jobs are of one type. The
// plain way merges the type queues. The fast path assumes that only the type of the last claims has
// ready jobs, and walks its queue from lock to lock. The statement itself checks that no other type
// has a ready job, and that the claim was not sent before. If that does not hold, it returns no job,
// and the transaction merges the type queues.

// sqlSingleType reads no job that it does not take.
var sqlSingleType = `
SELECT ` + queuedColumns + rowVersion + `
FROM rota_jobs j
WHERE j.type BETWEEN $1 AND $1 AND j.status = 'QUEUED' AND j.hold = 0
  AND NOT ` + someReady + `
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $4)
ORDER BY j.type, j.priority DESC, j.position, j.created_at, j.id
LIMIT $3
FOR UPDATE OF j SKIP LOCKED`

// singleType remembers the type of the last claims. One claim that got its full limit from one type
// activates it, and so do two smaller claims in sequence.
type singleType struct {
	mu       sync.Mutex
	lastType string // type of the last claim that found a job
	active   bool   // claims read only this type
}

// current returns the type to read, or "" for all types.
func (s *singleType) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return ""
	}
	return s.lastType
}

// observe records the result of a claim. If the params nearly fill an answer, the next claim merges
// the queues, because that statement adds up their size.
func (s *singleType) observe(heads []*rota.Job, h *rules.Heads) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(heads) == 0: // the next claim reads all types
		s.active = false
	case 2*paramsBytes(heads) > h.Bytes || slices.ContainsFunc(heads, func(j *rota.Job) bool { return j.Type != heads[0].Type }):
		s.lastType, s.active = "", false
	default:
		s.active = len(heads) == h.Limit || s.lastType == heads[0].Type
		s.lastType = heads[0].Type
	}
}

func paramsBytes(jobs []*rota.Job) (bytes int) {
	for _, j := range jobs {
		bytes += len(j.Params)
	}
	return bytes
}

// loadSingleTypeHeads reads the heads of one type queue, if the other types have no ready job and
// the claim is not repeated. If that does not hold, the queues are merged after all. If the params
// do not fit into an answer, the batch is decided again, because it has locked jobs that it does
// not take.
func (t *tx) loadSingleTypeHeads(typ string, n rules.Orders, u *rules.UnitOfWork) statement {
	h := n.Heads
	t.locks.holdsRows, t.claim.lockedHeads = true, true
	others := slices.DeleteFunc(slices.Clone(h.Types), func(other string) bool { return other == typ })
	var command rota.ID
	if n.ClaimedBefore != nil {
		command = n.ClaimedBefore.Command
	}
	var heads []*rota.Job
	return statement{sql: sqlSingleType, params: []param{textNotNull(typ), textsParam(others), intParam(int64(h.Limit)), idParam(command)}, eachRow: func(r row) error {
		heads = append(heads, t.scanJob(r))
		return nil
	}, afterRows: func() {
		t.store.singleType.observe(heads, h)
		t.claim.mergesTypes = len(heads) == 0
		t.claim.readFurther = t.claim.mergesTypes
		t.claim.exceedsAnswerBytes = len(heads) > 1 && paramsBytes(heads) > h.Bytes
		slices.SortFunc(heads, storekit.DispatchOrder)
		for _, j := range heads {
			u.PutHead(j)
		}
	}}
}
