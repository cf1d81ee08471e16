package rules

import "github.com/rotajobs/rota"

func needMove(n *Need, c *rota.Move) {
	n.audited(c, c.JobID)
	j := n.job(c.JobID)
	anchor := j
	if !c.Anchor.IsZero() {
		anchor = n.job(c.Anchor)
	}
	if j == nil || anchor == nil || j.Status != rota.StatusQueued || anchor.Status != rota.StatusQueued {
		return
	}
	n.keyQueue(j.ConcurrencyKey)
	s, known := targetOf(n.unit, c, j, anchor, n.page)
	if known && s.full() {
		n.gap(c, anchor)
	}
}

// decideMove moves a queued job in the order. The job takes a position in the
// gap at its target; if there is no free position, adjacent jobs are
// renumbered.
func decideMove(u *UnitOfWork, c *rota.Move) (rota.Reply, *rota.Error) {
	j := u.job(c.JobID)
	again, refusal := mayChange(u, c, c.JobID, c.Version)
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
			return nil, notQueued("anchor", anchor)
		}
		if rota.InternalType(anchor.Type) {
			return nil, internalJob("anchor", anchor)
		}
	}
	s, _ := targetOf(u, c, j, anchor, u.page)
	moved := u.edit(j.ID)
	moved.Priority, moved.Version = anchor.Priority, c.ID
	switch {
	case s.full():
		if refusal := openGap(u, c, anchor); refusal != nil {
			return nil, refusal
		}
	case !s.stays:
		moved.Position = s.position()
	}
	u.markKeyChanged(moved.ConcurrencyKey)
	u.auditJob(c, rota.AuditJobModified, j.ID, string(rota.VerbMove))
	return &rota.Moved{Job: withoutToken(moved)}, nil
}

// target is the place a job moves to: between two adjacent jobs, either of
// which may be missing.
type target struct {
	stays         bool // the job is there already
	before, after *rota.Job
}

type pager func(OrderPage) ([]rota.ID, bool)

// targetOf finds the target; false if it needs rows that are not loaded yet.
func targetOf(u *UnitOfWork, c *rota.Move, j, anchor *rota.Job, page pager) (target, bool) {
	query := OrderPage{Priority: anchor.Priority, Limit: 1}
	if c.Place == rota.PlaceBefore || c.Place == rota.PlaceAfter {
		query.From = anchor.ID
	}
	query.Back = c.Place == rota.PlaceBefore || c.Place == rota.PlaceBottom
	ids, known := page(query)
	if !known {
		return target{}, false
	}
	var adjacent *rota.Job
	if len(ids) > 0 {
		adjacent = u.job(ids[0])
	}
	if adjacent != nil && adjacent.ID == j.ID {
		return target{stays: true}, true
	}
	switch c.Place {
	case rota.PlaceTop:
		return target{after: adjacent}, true
	case rota.PlaceBottom:
		return target{before: adjacent}, true
	case rota.PlaceBefore:
		return target{before: adjacent, after: anchor}, true
	}
	return target{before: anchor, after: adjacent}, true
}

// full reports whether there is no free position between the adjacent jobs.
func (s target) full() bool {
	return !s.stays && s.before != nil && s.after != nil && s.after.Position-s.before.Position < 2
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

// page returns a loaded page of the order.
func (u *UnitOfWork) page(p OrderPage) ([]rota.ID, bool) {
	ids, known := u.pages[p]
	return ids, known
}
