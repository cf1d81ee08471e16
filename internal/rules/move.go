package rules

import "github.com/rotajobs/rota"

func needMove(n *Need, c *rota.Move) {
	n.wrote(c, c.JobID)
	j := n.job(c.JobID)
	anchor := j
	if !c.Anchor.IsZero() {
		anchor = n.job(c.Anchor)
	}
	if j == nil || anchor == nil || j.Status != rota.StatusQueued || anchor.Status != rota.StatusQueued {
		return
	}
	n.keyQueue(j.ConcurrencyKey)
	s, known := spotOf(n.unit, c, j, anchor, n.page)
	if known && s.full() {
		n.roomFor(c, anchor)
	}
}

// decideMove puts a queued job elsewhere in the order. It takes a position in
// the gap there; where the gap is used up, neighbours are renumbered.
func decideMove(w *UnitOfWork, c *rota.Move) (rota.Reply, *rota.Error) {
	j := w.job(c.JobID)
	again, refusal := mayChange(w, c, c.JobID, c.Version)
	if refusal != nil {
		return nil, refusal
	}
	if again {
		return &rota.Moved{Job: public(j)}, nil
	}
	anchor := j
	if !c.Anchor.IsZero() {
		if anchor = w.job(c.Anchor); anchor == nil {
			return nil, noJob("anchor", c.Anchor)
		}
		if anchor.Status != rota.StatusQueued {
			return nil, notQueued("anchor", anchor)
		}
		if rota.InternalType(anchor.Type) {
			return nil, ours("anchor", anchor)
		}
	}
	s, _ := spotOf(w, c, j, anchor, w.page)
	moved := w.edit(j.ID)
	moved.Priority, moved.Version = anchor.Priority, c.ID
	switch {
	case s.full():
		if refusal := makeRoom(w, c, anchor); refusal != nil {
			return nil, refusal
		}
	case !s.stays:
		moved.Position = s.position()
	}
	w.stir(moved.ConcurrencyKey)
	w.log(c, rota.AuditJobModified, j.ID, string(rota.VerbMove))
	return &rota.Moved{Job: public(moved)}, nil
}

// spot is the place a job moves to: between two neighbours, either of which
// may be missing.
type spot struct {
	stays         bool // it is there already
	before, after *rota.Job
}

type pager func(OrderPage) ([]rota.ID, bool)

// spotOf finds the spot; false if it takes rows that are not loaded yet.
func spotOf(w *UnitOfWork, c *rota.Move, j, anchor *rota.Job, page pager) (spot, bool) {
	question := OrderPage{Priority: anchor.Priority, Limit: 1}
	if c.Place == rota.PlaceBefore || c.Place == rota.PlaceAfter {
		question.From = anchor.ID
	}
	question.Back = c.Place == rota.PlaceBefore || c.Place == rota.PlaceBottom
	ids, known := page(question)
	if !known {
		return spot{}, false
	}
	var neighbour *rota.Job
	if len(ids) > 0 {
		neighbour = w.job(ids[0])
	}
	if neighbour != nil && neighbour.ID == j.ID {
		return spot{stays: true}, true
	}
	switch c.Place {
	case rota.PlaceTop:
		return spot{after: neighbour}, true
	case rota.PlaceBottom:
		return spot{before: neighbour}, true
	case rota.PlaceBefore:
		return spot{before: neighbour, after: anchor}, true
	}
	return spot{before: anchor, after: neighbour}, true
}

// full says that there is no number left between the neighbours.
func (s spot) full() bool {
	return !s.stays && s.before != nil && s.after != nil && s.after.Position-s.before.Position < 2
}

func (s spot) position() int64 {
	switch {
	case s.before == nil:
		return s.after.Position - rota.PositionGap
	case s.after == nil:
		return s.before.Position + rota.PositionGap
	}
	return s.before.Position + (s.after.Position-s.before.Position)/2
}

// page is what was loaded of a page of the order.
func (w *UnitOfWork) page(p OrderPage) ([]rota.ID, bool) {
	ids, known := w.pages[p]
	return ids, known
}
