package postgres

import (
	"slices"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// stream remembers the lane from which the last claims took: while there is
// something in one lane, and nothing in the others, a claim need not merge them. A
// claim that got all that it wanted from one lane tells so, and so do two that got
// less, one after the other: where types take turns the lanes are merged.
type stream struct {
	mu   sync.Mutex
	last string // the lane of the last claim that found something
	deep bool   // that is where to look
}

// lane is where to look; empty: everywhere.
func (s *stream) lane() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.deep {
		return ""
	}
	return s.last
}

// learn looks at what a claim found. Params that nearly fill an answer are
// counted before they are taken.
func (s *stream) learn(heads []*rota.Job, h *rules.Heads) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(heads) == 0: // whoever looks next looks everywhere
		s.deep = false
	case 2*weightOf(heads) > h.Bytes || slices.ContainsFunc(heads, func(j *rota.Job) bool { return j.Type != heads[0].Type }):
		s.last, s.deep = "", false
	default:
		s.deep = len(heads) == h.Limit || s.last == heads[0].Type
		s.last = heads[0].Type
	}
}

func weightOf(jobs []*rota.Job) (bytes int) {
	for _, j := range jobs {
		bytes += len(j.Params)
	}
	return bytes
}

// streamHeads takes the heads of one lane, if the others are empty and the claim
// took nothing when it was sent before. If that is not so, or the params are heavier than those before, the lanes are merged after
// all: the second has the batch done anew, since not all that is locked is taken.
func (t *tx) streamHeads(lane string, n *rules.Need, w *rules.UnitOfWork) ask {
	h := n.Heads
	t.busy, t.walked = true, true
	others := slices.DeleteFunc(slices.Clone(h.Types), func(other string) bool { return other == lane })
	var command rota.ID
	if n.ClaimedBefore != nil {
		command = n.ClaimedBefore.Command
	}
	var heads []*rota.Job
	return ask{sql: sqlStream, params: []param{textAlways(lane), textsParam(others), intParam(int64(h.Limit)), idParam(command)}, each: func(r row) error {
		heads = append(heads, t.job(r))
		return nil
	}, end: func() {
		t.store.stream.learn(heads, h)
		t.merges = len(heads) == 0
		t.further = t.merges
		t.tooHeavy = len(heads) > 1 && weightOf(heads) > h.Bytes
		slices.SortFunc(heads, inOrder)
		for _, j := range heads {
			w.PutHead(j)
		}
	}}
}
