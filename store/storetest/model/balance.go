package model

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// keyQueue is the jobs of a concurrency key and a type, or of all types if typ is empty.
type keyQueue struct{ key, typ string }

// markKeyChanged marks the concurrency key of a job to be balanced at the end of the command.
func (s *step) markKeyChanged(j *rota.Job) {
	if j.ConcurrencyKey != "" {
		s.changedKeys[keyQueue{j.ConcurrencyKey, j.Type}] = true
	}
}

// balanceChangedKeys balances each marked key once. The last member of an All has balanced its
// keys when the All itself ends.
func (s *step) balanceChangedKeys() {
	balanced := map[keyQueue]bool{}
	for _, changed := range slices.SortedFunc(maps.Keys(s.changedKeys), byKeyAndType) {
		maxCount := rota.KeyLimitMax
		if limit, limited := s.throttle.Spec.Key(changed.key, changed.typ); limited {
			maxCount = limit.Concurrency + rota.KeySpare
		}
		queue := s.countedTogether(changed)
		if balanced[queue] {
			continue
		}
		balanced[queue] = true
		if _, left := s.rebalance(queue, maxCount); left {
			s.intents[intent{"key", queue.key}] = true
		}
	}
	clear(s.changedKeys)
}

func byKeyAndType(a, b keyQueue) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.typ, b.typ))
}

// countedTogether returns the jobs that one command balances together: those of the type if
// the key has only limits that count each type by itself, otherwise those of the key.
func (s *step) countedTogether(of keyQueue) keyQueue {
	if _, shared := s.throttle.Spec.Key(of.key, ""); shared || len(s.throttle.Spec.EachKeyOfType) == 0 {
		of.typ = ""
	}
	return of
}

// rebalance makes as many jobs of each type ready as may start, those that are first in the
// order. It stops after it has changed maxCount jobs, and returns how many it changed and
// whether work is left.
func (s *step) rebalance(queue keyQueue, maxCount int) (cost int, left bool) {
	for {
		change := s.unbalanced(queue)
		if len(change) == 0 {
			return cost, false
		}
		if cost >= maxCount {
			return cost, true
		}
		for _, j := range change {
			s.toggleKeyHold(j)
		}
		cost += len(change)
	}
}

// unbalanced returns the next jobs of a queue to hold or to release, none if it is balanced.
func (s *step) unbalanced(queue keyQueue) []*rota.Job {
	types := map[string]bool{}
	for _, j := range s.jobs {
		if j.ConcurrencyKey == queue.key && (queue.typ == "" || j.Type == queue.typ) {
			types[j.Type] = true
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(types)) {
		if change := s.unbalancedOf(queue.key, typ); len(change) > 0 {
			return change
		}
	}
	return nil
}

func (s *step) unbalancedOf(key, typ string) []*rota.Job {
	ready, held := s.candidates(key, typ, 0), s.candidates(key, typ, rota.HoldKey)
	want := s.keyCapacity(key, typ)
	switch {
	case len(ready) > want:
		return ready[len(ready)-1:]
	case len(ready) < want && len(held) > 0:
		return held[:1]
	case len(ready) > 0 && len(held) > 0 && held[0].Before(ready[len(ready)-1]):
		return []*rota.Job{ready[len(ready)-1], held[0]}
	}
	return nil
}

// candidates returns the jobs of a key and a type with exactly this hold, in dispatch order.
func (s *step) candidates(key, typ string, hold rota.Hold) []*rota.Job {
	jobs := s.pick(func(j *rota.Job) bool {
		return j.Status == rota.StatusQueued && j.Hold == hold && j.ConcurrencyKey == key && j.Type == typ
	})
	slices.SortFunc(jobs, inOrder)
	return jobs
}

// toggleKeyHold holds a ready job, or makes a held one ready.
func (s *step) toggleKeyHold(j *rota.Job) {
	if j.Hold == 0 {
		j.Hold = rota.HoldKey
		return
	}
	j.Hold = 0
	s.markReady(j)
}
