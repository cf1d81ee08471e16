package postgres

import (
	"slices"
	"sync/atomic"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// stream remembers the lane from which the last claim took all that it wanted:
// while there is more than enough in one lane, and nothing in the others, a claim
// need not merge them. Empty: there is none such.
type stream struct{ deep atomic.Pointer[string] }

func (s *stream) lane() string {
	if lane := s.deep.Load(); lane != nil {
		return *lane
	}
	return ""
}

// learn looks at what a claim found. Params that nearly fill an answer are
// counted before they are taken.
func (s *stream) learn(heads []*rota.Job, h *rules.Heads) {
	if len(heads) == 0 || len(heads) < h.Limit || 2*weightOf(heads) > h.Bytes ||
		slices.ContainsFunc(heads, func(j *rota.Job) bool { return j.Type != heads[0].Type }) {
		s.deep.Store(nil)
		return
	}
	if s.lane() != heads[0].Type {
		s.deep.Store(&heads[0].Type)
	}
}

func weightOf(jobs []*rota.Job) (bytes int) {
	for _, j := range jobs {
		bytes += len(j.Params)
	}
	return bytes
}

// streamHeads takes the heads of one lane, if the others are empty. If they are
// not, or the params are heavier than those before, the lanes are merged after
// all: the second has the batch done anew, since not all that is locked is taken.
func (t *tx) streamHeads(lane string, h *rules.Heads, w *rules.World) ask {
	t.busy = true
	others := slices.DeleteFunc(slices.Clone(h.Types), func(other string) bool { return other == lane })
	var heads []*rota.Job
	return ask{sql: sqlStream, params: []param{textAlways(lane), textsParam(others), intParam(int64(h.Limit))}, each: func(r row) error {
		heads = append(heads, t.job(r))
		return nil
	}, end: func() {
		t.store.stream.learn(heads, h)
		t.further = len(heads) == 0
		t.tooHeavy = len(heads) > 1 && weightOf(heads) > h.Bytes
		slices.SortFunc(heads, inOrder)
		for _, j := range heads {
			w.PutHead(j)
		}
	}}
}
