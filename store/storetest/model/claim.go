package model

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func (s *step) ready(c *rota.Ready) (rota.Reply, *rota.Error) {
	due := s.pick(func(j *rota.Job) bool {
		return j.Status == rota.StatusQueued && j.Hold&rota.HoldDelay != 0 && !j.RunAt.After(s.now)
	})
	slices.SortFunc(due, byRunAt)
	due, more := page(due, c.Limit)
	for _, j := range due {
		j.Position = s.endPositionOf(j)
		s.releaseHold(j, rota.HoldDelay)
	}
	return &rota.Readied{Count: len(due), More: more}, nil
}

func byRunAt(a, b *rota.Job) int {
	if c := a.RunAt.Compare(b.RunAt); c != 0 {
		return c
	}
	return byID(a, b)
}

func (s *step) claim(c *rota.Claim) (rota.Reply, *rota.Error) {
	taken := s.pick(func(j *rota.Job) bool { return j.Run != nil && j.Run.ID == rota.RunID(c.ID, j.ID) })
	if len(taken) > 0 {
		taken = slices.DeleteFunc(taken, func(j *rota.Job) bool { return !leased(j) })
		slices.SortFunc(taken, inOrder)
		return &rota.Claimed{Jobs: taken, Again: true, Now: s.now}, nil
	}
	if r := s.active(); r != nil && r.ExpiresAt.After(s.now) && r.Node == c.Worker {
		return &rota.Claimed{Now: s.now}, nil
	}
	reply := &rota.Claimed{Now: s.now}
	types := s.claimableTypes(c)
	for _, j := range s.heads(c, types) {
		if s.endOrHoldBack(j) {
			reply.More = true
			continue
		}
		s.dispatch(j, c.Worker, c.Incarnation, c.TokenFor(j.ID), c.Lease)
		s.countStart(j.Type)
		reply.Jobs = append(reply.Jobs, j)
	}
	reply.Next = s.nextCapacityAt(types)
	return reply, nil
}

// claimableTypes returns the types of a claim that are not paused, each once.
func (s *step) claimableTypes(c *rota.Claim) []string {
	var types []string
	for _, name := range c.Types {
		if t := s.typ(name); (t == nil || !t.Paused) && !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	return types
}

// heads returns the first ready jobs that the limits allow. It passes over types without
// capacity and stops at the size limit of the answer.
func (s *step) heads(c *rota.Claim, types []string) []*rota.Job {
	ready := s.pick(func(j *rota.Job) bool { return j.Ready() && slices.Contains(types, j.Type) })
	slices.SortFunc(ready, inOrder)
	capacity, capacities := s.globalCapacity(), map[string]int{}
	for _, name := range types {
		capacities[name] = s.typeCapacity(name)
	}
	var heads []*rota.Job
	bytes := 0
	for _, j := range ready {
		if len(heads) >= c.Limit {
			break
		}
		if capacities[j.Type] == 0 || capacity == 0 && !rota.InternalType(j.Type) {
			continue
		}
		if bytes += len(j.Params); bytes > rota.ClaimBytesMax && len(heads) > 0 {
			break
		}
		capacities[j.Type]--
		if !rota.InternalType(j.Type) {
			capacity--
		}
		heads = append(heads, j)
	}
	return heads
}

// endOrHoldBack ends a job of an ended group, and holds a job whose key is at its limit. It
// reports whether it did either.
func (s *step) endOrHoldBack(j *rota.Job) bool {
	if g := s.group(j.GroupID); g != nil && g.Ending != "" {
		s.endMember(g, j)
		return true
	}
	if s.keyCapacity(j.ConcurrencyKey, j.Type) == 0 {
		j.Hold = rota.HoldKey
		return true
	}
	return false
}

// dispatch starts a job and creates its run.
func (s *step) dispatch(j *rota.Job, runner string, incarnation rota.ID, token rota.Token, lease time.Duration) {
	j.Status = rota.StatusRunning
	j.StartedAt = s.now
	j.Run = &rota.Run{
		ID: rota.RunID(s.id(), j.ID), Runner: runner, Incarnation: incarnation, Token: token,
		StartedAt: s.now, HeartbeatAt: s.now, StaleAfter: micros(s.now.Add(lease)),
	}
}
