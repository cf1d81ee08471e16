package rules

import "github.com/rotajobs/rota"

// decideMove moves a queued job in the order. The job takes a position in the
// gap at its target; if there is no free position, adjacent jobs are
// renumbered.
func decideMove(u *UnitOfWork, c *rota.Move) (rota.Reply, *rota.Error) {
	u.wantChange(c, c.JobID)
	if !c.Anchor.IsZero() {
		u.fullJobs.want(c.Anchor)
	}
	j := u.job(c.JobID)
	again, refusal := mayChange(u, c, c.JobID, c.JobID, c.Version)
	if refusal != nil {
		return nil, refusal
	}
	if again {
		return &rota.Moved{Job: withoutToken(j)}, nil
	}
	anchor := j
	if !c.Anchor.IsZero() {
		if anchor = u.job(c.Anchor); anchor == nil {
			return nil, noJob("anchor", c.Anchor)
		}
		if anchor.Status != rota.StatusQueued {
			return nil, notQueued(u, "anchor", anchor)
		}
		if rota.InternalType(anchor.Type) {
			return nil, internalJob("anchor", anchor)
		}
	}
	s, was := targetOf(u, c, j, anchor), *j
	moved := u.edit(j.ID)
	moved.Version = c.ID
	if s.stays {
		return &rota.Moved{Job: withoutToken(moved)}, nil
	}
	moved.Priority = anchor.Priority
	if s.full() {
		if refusal := openGap(u, c, anchor); refusal != nil {
			return nil, refusal
		}
	} else {
		moved.Position = s.position()
	}
	u.markKeyChanged(moved)
	u.auditJob(c, rota.AuditJobModified, moved, string(rota.VerbMove), jobChanges(&was, moved))
	return &rota.Moved{Job: withoutToken(moved)}, nil
}

// target is the place a job moves to: between two adjacent jobs, either of
// which may be missing.
type target struct {
	stays         bool // the job is there already
	before, after *rota.Job
}

// targetOf finds the target.
func targetOf(u *UnitOfWork, c *rota.Move, j, anchor *rota.Job) target {
	query := OrderPage{Priority: anchor.Priority, Limit: 1}
	if c.Place == rota.PlaceBefore || c.Place == rota.PlaceAfter {
		query.From = anchor.ID
	}
	query.Back = c.Place == rota.PlaceBefore || c.Place == rota.PlaceBottom
	ids := OrderPages.get(u, query)
	var adjacent *rota.Job
	if len(ids) > 0 {
		adjacent = u.partOfJob(ids[0])
	}
	if adjacent != nil && adjacent.ID == j.ID {
		return target{stays: true}
	}
	switch c.Place {
	case rota.PlaceTop:
		return target{after: adjacent}
	case rota.PlaceBottom:
		return target{before: adjacent}
	case rota.PlaceBefore:
		return target{before: adjacent, after: anchor}
	}
	return target{before: anchor, after: adjacent}
}

// full reports whether there is no free position between the adjacent jobs.
func (s target) full() bool {
	return s.before != nil && s.after != nil && s.after.Position-s.before.Position < 2
}

func (s target) position() int64 {
	switch {
	case s.before == nil:
		return s.after.Position - rota.PositionGap
	case s.after == nil:
		return s.before.Position + rota.PositionGap
	}
	return s.before.Position + (s.after.Position-s.before.Position)/2
}
