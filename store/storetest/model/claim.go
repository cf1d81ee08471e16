package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

func (s *step) ready(c *rota.Ready) (rota.Reply, *rota.Error) {
	due := s.pick(func(j *rota.Job) bool {
		return j.Status == rota.StatusQueued && j.Hold&rota.HoldDelay != 0 && !j.RunAt.After(s.now)
	})
	slices.SortFunc(due, byRunAt)
	due, more := page(due, c.Limit)
	for _, j := range due {
		j.Hold &^= rota.HoldDelay
		j.Position = s.end(j.Priority)
		if j.Hold == 0 && j.QueuedAt.IsZero() {
			j.QueuedAt = s.now
		}
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
	mine := s.pick(func(j *rota.Job) bool { return j.Run != nil && j.Run.ID == rota.RunID(c.ID, j.ID) })
	if len(mine) == 0 {
		mine = s.dispatch(c)
	}
	mine = slices.DeleteFunc(mine, func(j *rota.Job) bool { return !open(j) })
	slices.SortFunc(mine, inOrder)
	reply := &rota.Claimed{}
	for _, j := range mine {
		reply.Jobs = append(reply.Jobs, withToken(j))
	}
	return reply, nil
}

func (s *step) dispatch(c *rota.Claim) []*rota.Job {
	ready := s.pick(func(j *rota.Job) bool { return j.Ready() && slices.Contains(c.Types, j.Type) })
	slices.SortFunc(ready, inOrder)
	ready, _ = page(ready, c.Limit)
	for _, j := range ready {
		j.Status = rota.StatusRunning
		j.StartedAt = s.now
		j.Run = &rota.Run{
			ID: rota.RunID(c.ID, j.ID), Runner: c.Worker, Life: c.Life, Token: c.TokenFor(j.ID),
			StartedAt: s.now, HeartbeatAt: s.now, StaleAfter: cut(s.now.Add(c.Lease)),
		}
	}
	return ready
}

// open reports whether a job is leased to somebody.
func open(j *rota.Job) bool {
	return j.Status == rota.StatusRunning && j.Run != nil && j.Run.Open()
}
