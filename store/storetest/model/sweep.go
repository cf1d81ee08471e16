package model

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// sweep executes intents.
func (s *step) sweep(c *rota.Sweep) (rota.Reply, *rota.Error) {
	budget := cmp.Or(c.Limit, rota.SweepMax)
	reply := &rota.Swept{}
	for _, what := range slices.SortedFunc(maps.Keys(s.intents), byKindAndName) {
		if reply.Count >= budget { // an execution is removed as a whole, so a drop may change more
			break
		}
		count, left := s.executeIntent(what, budget-reply.Count, budget)
		reply.Count += count
		if !left {
			delete(s.intents, what)
		}
	}
	reply.More = len(s.intents) > 0
	return reply, nil
}

func byKindAndName(a, b intent) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
}

// executeIntent changes at most maxCount rows of the budget of the Sweep. It returns how many, and
// whether more are left.
func (s *step) executeIntent(what intent, maxCount, budget int) (count int, left bool) {
	switch what.kind {
	case "group":
		return s.sweepGroup(what.name, maxCount)
	case "key":
		return s.rebalance(keyQueue{key: what.name}, maxCount)
	case "keys":
		return s.sweepKeys(what, maxCount)
	case "drop":
		return s.sweepDrop(what.name, maxCount, budget)
	}
	t := s.template(what.name)
	if t == nil || t.State != rota.TemplateArchived {
		return 0, false
	}
	return s.disableSchedulesOf(t, maxCount)
}

// sweepKeys balances the next keys that have live jobs, in order. It stops at a key that it
// cannot finish. The intent then starts after the last key that it has balanced.
func (s *step) sweepKeys(what intent, maxCount int) (count int, left bool) {
	live := map[string]bool{}
	for _, j := range s.jobs {
		if j.Sequel == "" && j.ConcurrencyKey > what.name {
			live[j.ConcurrencyKey] = true
		}
	}
	keys, left := page(slices.Sorted(maps.Keys(live)), rota.SweepKeysMax)
	last := what.name
	for _, key := range keys {
		n, unfinished := s.rebalance(keyQueue{key: key}, maxCount-count)
		count += n
		if unfinished {
			left = true
			break
		}
		last = key
	}
	if left && last != what.name {
		delete(s.intents, what)
		s.intents[intent{"keys", last}] = true
	}
	return count, left
}

func (s *step) sweepGroup(id string, maxCount int) (count int, left bool) {
	g := pickOne(s.groups, func(g *rota.Group) bool { return g.ID.String() == id })
	if g == nil || g.Ending == "" {
		return 0, false
	}
	members, left := page(s.membersToEnd(g), maxCount)
	for _, j := range members {
		s.endMember(g, j)
	}
	return len(members), left
}
