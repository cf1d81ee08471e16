package model

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

func (s *step) move(c *rota.Move) (rota.Reply, *rota.Error) {
	j, again, err := s.changeable(c.JobID, c.JobID, c.Version)
	if err != nil {
		return nil, err
	}
	if again {
		return &rota.Moved{Job: j}, nil
	}
	was, moved := jobDocument(j), true
	switch row := s.queued(j.Priority); c.Place {
	case rota.PlaceTop:
		if moved = row[0] != j; moved {
			j.Position = row[0].Position - rota.PositionGap
		}
	case rota.PlaceBottom:
		if moved = row[len(row)-1] != j; moved {
			j.Position = row[len(row)-1].Position + rota.PositionGap
		}
	default:
		if moved, err = s.moveBeside(c, j); err != nil {
			return nil, err
		}
	}
	j.Version = c.ID
	if !moved {
		return &rota.Moved{Job: j}, nil
	}
	s.markKeyChanged(j)
	s.auditJobAs(c.Actor, rota.AuditJobModified, j, "move", diff.ByMember(was, jobDocument(j), "params"))
	return &rota.Moved{Job: j}, nil
}

// moveBeside reports whether it moved the job, which may be beside the anchor already.
func (s *step) moveBeside(c *rota.Move, j *rota.Job) (moved bool, err *rota.Error) {
	anchor := s.find(c.Anchor)
	switch {
	case anchor == nil:
		return false, s.refuse(rota.NotFound, "anchor", "there is no job %s", c.Anchor)
	case anchor.Status != rota.StatusQueued:
		return false, s.refuse(rota.Conflict, "anchor", "job %s has left the queue", c.Anchor)
	case rota.InternalType(anchor.Type):
		return false, s.refuse(rota.Conflict, "anchor", "job %s has an internal type", c.Anchor)
	}
	row := s.queued(anchor.Priority)
	at := slices.Index(row, anchor)
	beside := at + 1
	if c.Place == rota.PlaceBefore {
		beside = at - 1
	}
	if beside >= 0 && beside < len(row) && row[beside] == j {
		return false, nil
	}
	s.moveBetween(j, at, beside, row)
	return true, nil
}

// moveBetween puts a job between the anchor, row[at], and the job on one side of it,
// row[beside], which may be outside the row.
func (s *step) moveBetween(j *rota.Job, at, beside int, row []*rota.Job) {
	anchor := row[at]
	j.Priority = anchor.Priority
	switch {
	case beside < 0:
		j.Position = anchor.Position - rota.PositionGap
	case beside >= len(row):
		j.Position = anchor.Position + rota.PositionGap
	default:
		low, high := row[min(at, beside)], row[max(at, beside)]
		if gap := high.Position - low.Position; gap >= 2 {
			j.Position = low.Position + gap/2
			return
		}
		renumber(row, j, high)
		s.markKeyChanged(j) // its number may be the same by chance, but its place is not
	}
}

// renumber gives new positions to a row, with a job inserted before another.
func renumber(row []*rota.Job, j, before *rota.Job) {
	row = slices.DeleteFunc(slices.Clone(row), func(r *rota.Job) bool { return r == j })
	row = slices.Insert(row, slices.Index(row, before), j)
	for i, r := range withoutInternal(row) {
		r.Position = int64(i+1) * rota.PositionGap
	}
}

// withoutInternal returns the jobs of a row that are not internal. Internal jobs keep their
// positions.
func withoutInternal(row []*rota.Job) []*rota.Job {
	return slices.DeleteFunc(slices.Clone(row), func(j *rota.Job) bool { return rota.InternalType(j.Type) })
}

func (s *step) normalise(c *rota.Normalise) (rota.Reply, *rota.Error) {
	row := s.queued(c.Priority)
	var low int64
	if !c.After.IsZero() {
		at := slices.IndexFunc(row, func(j *rota.Job) bool { return j.ID == c.After })
		if at < 0 {
			return nil, s.refuse(rota.Conflict, "after", "job %s is not in this row", c.After)
		}
		low, row = row[at].Position, row[at+1:]
	}
	limit := rota.OrderMax
	if c.Limit > 0 {
		limit = c.Limit
	}
	step, more := int64(rota.PositionGap), len(row) > limit
	if more {
		next := row[limit]
		row = row[:limit]
		step = min(step, (next.Position-low)/int64(len(withoutInternal(row))+1))
	}
	reply := &rota.Normalised{More: more}
	if !more {
		reply.Below = s.lowerPriority(c.Priority)
	}
	if len(row) > 0 {
		reply.Last = row[len(row)-1].ID
	}
	for i, j := range withoutInternal(row) {
		if to := low + int64(i+1)*step; step >= 1 && j.Position != to {
			j.Position = to
			reply.Count++
		}
	}
	return reply, nil
}

// lowerPriority returns the highest priority below one that has queued jobs.
func (s *step) lowerPriority(than int) (below *int) {
	for _, j := range s.jobs {
		if j.Status == rota.StatusQueued && j.Priority < than && (below == nil || j.Priority > *below) {
			below = &j.Priority
		}
	}
	if below != nil {
		below = new(*below)
	}
	return below
}
