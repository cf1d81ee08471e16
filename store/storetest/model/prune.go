package model

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// prune removes ended executions and their attempts.
func (s *step) prune(c *rota.Prune) (rota.Reply, *rota.Error) {
	reply, before, rows := &rota.Pruned{}, micros(c.Before), 0
	for i, id := range c.Executions {
		if rows >= rota.PruneRowsMax {
			reply.Rest = c.Executions[i:]
			break
		}
		first := s.find(id)
		if first == nil {
			continue
		}
		rows += s.rowsOf(first)
		tail := s.tail(first.ExecutionID)
		late := !before.IsZero() && !tail.FinishedAt.Before(before)
		if first.Attempt != 1 || live(tail) || late || s.redrivesExisting(first) {
			reply.Kept = append(reply.Kept, id)
			continue
		}
		reply.Executions++
		jobs, _ := s.removeExecution(first, tail)
		reply.Jobs += jobs
	}
	s.pruneReservations(s.now.Add(-rota.ReservationKeep))
	s.removeExpiredRequests(rota.PruneMax)
	s.removeEndedTokens()
	return reply, nil
}

// redrivesExisting reports whether an execution redrives another that still exists. It is kept
// as long as that one.
func (s *step) redrivesExisting(first *rota.Job) bool { return s.find(first.RedriveOf) != nil }

// rowsOf returns how many rows an execution counts for in a prune: a job and an audit entry for each
// attempt, and an entry for its creation. A later attempt is no execution.
func (s *step) rowsOf(first *rota.Job) int {
	if first.Attempt != 1 {
		return 0
	}
	return 1 + 2*len(s.pick(func(j *rota.Job) bool { return j.ExecutionID == first.ID }))
}

// removeExecution removes all attempts of an execution. It returns how many there were, and how
// many entries it added to the audit.
func (s *step) removeExecution(first, tail *rota.Job) (jobs, entries int) {
	if g := s.group(first.GroupID); g != nil {
		s.pruneMember(g, tail)
	}
	name := keyName{first.Type, first.UniqueKey}
	if record, held := s.keys[name]; held && record.execution == first.ID {
		delete(s.keys, name)
	}
	attempts := s.pick(func(j *rota.Job) bool { return j.ExecutionID == first.ID })
	for _, j := range attempts {
		for _, e := range j.AuditEntries() {
			if s.hasEntry(e.ID) { // of an earlier job with the same id
				e.ID = rota.AuditRepeatID(e.ID, e.At)
			}
			s.appendAudit(e)
			entries++
		}
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j *rota.Job) bool { return j.ExecutionID == first.ID })
	return len(attempts), entries
}

// pruneMember counts the end of a pruned member, and removes the group with its last member.
func (s *step) pruneMember(g *rota.Group, tail *rota.Job) {
	g.Pruned.Count(tail)
	p := g.Pruned
	if p.Queued+p.Running+p.Completed+p.Dead+p.Skipped+p.Cancelled < g.Size {
		return
	}
	s.groups = slices.DeleteFunc(s.groups, func(other *rota.Group) bool { return other == g })
	delete(s.intents, intent{"group", g.ID.String()})
}

func (s *step) pruneReservations(before time.Time) {
	var old []rota.ID
	for _, r := range s.reservations {
		if r.Status != rota.ReservationActive && r.EndedAt.Before(before) {
			old = append(old, r.ID)
		}
	}
	slices.SortFunc(old, rota.ID.Compare)
	old, _ = page(old, rota.PruneMax)
	s.reservations = slices.DeleteFunc(s.reservations, func(r *rota.Reservation) bool { return slices.Contains(old, r.ID) })
}

// Prunable lists executions that the retention no longer keeps.
func (m *Model) Prunable(_ context.Context, q rota.PruneQuery) (rota.PrunePage, error) {
	if err := q.Validate(); err != nil {
		return rota.PrunePage{}, err
	}
	now := q.Now
	if now.IsZero() {
		now = m.clock()
	}
	return read(m, func(s *state) (rota.PrunePage, error) {
		return s.prunable(q, now), nil
	})
}

// prunable lists executions by id: newest first if the retention counts them, otherwise oldest
// first up to those that are too young to have ended long enough ago.
func (s *state) prunable(q rota.PruneQuery, now time.Time) rota.PrunePage {
	rest := s.prunableAfter(q, now)
	looked, more := page(rest, cmp.Or(q.Limit, rota.PageMax))
	result := rota.PrunePage{Next: q.From, More: more}
	for _, first := range looked {
		result.Next.Last = first.ID
		tail := s.tail(first.ID)
		if live(tail) {
			continue
		}
		seen := &result.Next.Seen
		if rota.InternalType(tail.Type) {
			seen = &result.Next.Own
		}
		seen.Count(tail)
		if mayPrune(q.Retention, tail, *seen, now) {
			result.Executions = append(result.Executions, first.ID)
		}
	}
	return result
}

func (s *state) prunableAfter(q rota.PruneQuery, now time.Time) []*rota.Job {
	counts, last := q.Retention.Counts(), q.From.Last
	young := youngest(q.Retention, now)
	rest := s.sorted(func(j *rota.Job) bool {
		switch {
		case j.Attempt != 1:
			return false
		case counts:
			return last.IsZero() || j.ID.Compare(last) < 0
		}
		return j.ID.Compare(last) > 0 && !j.ID.Time().After(young)
	})
	if counts {
		slices.Reverse(rest)
	}
	return rest
}

// youngest returns the latest start of an execution that may be older than the smallest age.
// Without an age it is before every time.
func youngest(r rota.Retention, now time.Time) (young time.Time) {
	for _, k := range []rota.Keep{r.Completed, r.Skipped, r.Cancelled, r.Dead} {
		if at := now.Add(-k.Age); k.Age > 0 && at.After(young) {
			young = at
		}
	}
	return young
}

// mayPrune reports whether the retention no longer keeps an execution, given how many of each
// outcome were seen with it.
func mayPrune(r rota.Retention, tail *rota.Job, seen rota.GroupTally, now time.Time) bool {
	keep := r.For(tail)
	if keep.Age > 0 && tail.FinishedAt.Before(now.Add(-keep.Age)) {
		return true
	}
	var alike rota.GroupTally
	alike.Count(tail)
	number := alike.Completed*seen.Completed + alike.Dead*seen.Dead + alike.Skipped*seen.Skipped + alike.Cancelled*seen.Cancelled
	return keep.Count > 0 && number > keep.Count
}
