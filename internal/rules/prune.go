package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func needPrune(n *Need, c *rota.Prune) {
	for _, id := range c.Executions {
		needPruneOne(n, id)
	}
	n.bygone(bygoneOf(n.unit))
	n.lapsed(lapsedOf(n.unit, rota.PruneMax))
}

// needPruneOne asks for an execution, and for what only it may hold.
func needPruneOne(n *Need, execution rota.ID) {
	first := n.job(execution)
	if first == nil || first.Attempt != 1 {
		return
	}
	attempts, _ := n.attempts(Attempts{Execution: execution})
	for _, attempt := range attempts {
		n.job(attempt)
	}
	needKey(n, first)
	if !first.RedriveOf.IsZero() {
		n.job(first.RedriveOf)
	}
	if !first.GroupID.IsZero() {
		n.group(first.GroupID)
	}
}

func bygoneOf(w *UnitOfWork) ExpiredReservations {
	return ExpiredReservations{Before: w.Now.Add(-rota.ReservationKeep).UnixMicro(), Limit: rota.PruneMax}
}

// decidePrune removes whole executions that have ended, and what only they held.
// What tries another anew is kept as long as that: a dead letter that has been
// seen to must not come back.
func decidePrune(w *UnitOfWork, c *rota.Prune) (rota.Reply, *rota.Error) {
	reply := &rota.Pruned{}
	for _, id := range c.Executions {
		first := w.job(id)
		if first == nil {
			continue
		}
		attempts := w.attempts.get(Attempts{Execution: id})
		if !prunable(w, first, attempts, c.Before) {
			reply.Kept = append(reply.Kept, id)
			continue
		}
		pruneOne(w, first, attempts)
		reply.Executions++
		reply.Jobs += len(attempts)
	}
	for _, id := range w.bygone.get(bygoneOf(w)) {
		w.reservations.set(w, id, nil)
	}
	forgetLapsed(w, rota.PruneMax)
	return reply, nil
}

func prunable(w *UnitOfWork, first *rota.Job, attempts []rota.ID, before time.Time) bool {
	if first.Attempt != 1 || w.job(first.RedriveOf) != nil || len(attempts) == 0 {
		return false
	}
	tail := w.job(attempts[len(attempts)-1])
	return tail != nil && tail.Ended() && tail.Sequel != "" && tail.Sequel != rota.SequelRetry &&
		(before.IsZero() || tail.FinishedAt.Before(micros(before)))
}

func pruneOne(w *UnitOfWork, first *rota.Job, attempts []rota.ID) {
	tail := w.job(attempts[len(attempts)-1])
	if held := w.keys.get(Key{first.Type, first.UniqueKey}); first.UniqueKey != "" && held != nil && held.ExecutionID == first.ID {
		w.keys.set(w, held.Key, nil)
	}
	if g := w.groups.get(first.GroupID); !first.GroupID.IsZero() && g != nil {
		forget(w, g, tail)
	}
	for _, id := range slices.Backward(attempts) {
		w.remove(id)
	}
}

// forget counts a member of a group that is no longer kept; a group without
// members goes with the last.
func forget(w *UnitOfWork, g *rota.Group, tail *rota.Job) {
	next := *g
	next.Pruned.Count(tail)
	if p := next.Pruned; p.Completed+p.Dead+p.Skipped+p.Cancelled < g.Size {
		w.groups.set(w, g.ID, &next)
		return
	}
	w.groups.set(w, g.ID, nil)
	w.drop(Intent{Kind: IntentGroup, Name: g.ID.String()})
}
