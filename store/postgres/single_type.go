package postgres

import (
	"slices"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// singleType remembers the lane from which the last claims took: while there is
// something in one lane, and nothing in the others, a claim need not merge them. A
// claim that got all that it wanted from one lane tells so, and so do two that got
// less, one after the other: where types take turns the lanes are merged.
type singleType struct {
	mu       sync.Mutex
	lastType string // the lane of the last claim that found something
	active   bool   // that is where to look
}

// typ is where to look; empty: everywhere.
func (s *singleType) typ() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return ""
	}
	return s.lastType
}

// observe looks at what a claim found. Params that nearly fill an answer are
// counted before they are taken.
func (s *singleType) observe(heads []*rota.Job, h *rules.Heads) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(heads) == 0: // whoever looks next looks everywhere
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

// loadSingleTypeHeads takes the heads of one lane, if the others are empty and the claim
// took nothing when it was sent before. If that is not so, or the params are heavier than those before, the lanes are merged after
// all: the second has the batch done anew, since not all that is locked is taken.
func (t *tx) loadSingleTypeHeads(typ string, n *rules.Need, u *rules.UnitOfWork) statement {
	h := n.Heads
	t.holdsRows, t.lockedHeads = true, true
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
		t.mergesTypes = len(heads) == 0
		t.readFurther = t.mergesTypes
		t.exceedsAnswerBytes = len(heads) > 1 && paramsBytes(heads) > h.Bytes
		slices.SortFunc(heads, dispatchOrder)
		for _, j := range heads {
			u.PutHead(j)
		}
	}}
}
