package model

import (
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// markKeyChanged marks the concurrency key of a job to be balanced at the end of the command.
func (s *step) markKeyChanged(j *rota.Job) {
	if j.ConcurrencyKey != "" {
		s.changedKeys[j.ConcurrencyKey] = true
	}
}

// balanceChangedKeys balances each marked key once. The last member of an All has balanced its
// keys when the All itself ends.
func (s *step) balanceChangedKeys() {
	for _, key := range slices.Sorted(maps.Keys(s.changedKeys)) {
		maxCount := rota.KeyLimitMax
		if limit, limited := s.throttle.Spec.Key(key); limited {
			maxCount = min(limit, rota.KeyLimitMax) + rota.KeySpare
		}
		if _, left := s.rebalance(key, maxCount); left {
			s.intents[intent{"key", key}] = true
		}
	}
	clear(s.changedKeys)
}

// rebalance makes as many jobs of each type ready as may start of the key, those that are first
// in the order. It stops after it has changed maxCount jobs, and returns how many it changed and
// whether work is left.
func (s *step) rebalance(key string, maxCount int) (cost int, left bool) {
	for {
		change := s.unbalanced(key)
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

// unbalanced returns the next jobs of a key to hold or to release, none if the key is balanced.
func (s *step) unbalanced(key string) []*rota.Job {
	types := map[string]bool{}
	for _, j := range s.jobs {
		if j.ConcurrencyKey == key {
			types[j.Type] = true
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(types)) {
		if change := s.unbalancedOf(key, typ); len(change) > 0 {
			return change
		}
	}
	return nil
}

func (s *step) unbalancedOf(key, typ string) []*rota.Job {
	ready, held := s.candidates(key, typ, 0), s.candidates(key, typ, rota.HoldKey)
	want := len(ready) + len(held) // all of them, unless there is a limit
	if limit, limited := s.throttle.Spec.Key(key); limited {
		want = max(0, limit-s.open(func(j *rota.Job) bool { return j.ConcurrencyKey == key }))
	}
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
