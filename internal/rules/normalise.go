package rules

import "github.com/rotajobs/rota"

// decideNormalise renumbers a page of one priority, between the position of the
// job before the page and that of the job after it.
func decideNormalise(u *UnitOfWork, c *rota.Normalise) (rota.Reply, *rota.Error) {
	r := gap{open: true}
	if !c.After.IsZero() {
		after := u.job(c.After)
		if after == nil || !isQueuedAt(after, c.Priority) {
			return nil, &rota.Error{
				Code: rota.Conflict, Field: "after", Reason: "job " + c.After.String() + " is not queued at this priority any more",
				Hint: "repeat the command without after",
			}
		}
		r.low = after.Position
	}
	LowerPriorities.want(u, c.Priority)
	all := OrderPages.get(u, OrderPage{Priority: c.Priority, From: c.After, Limit: rota.OrderMax + 1})
	ids, more := firstOf(all, rota.OrderMax)
	reply := &rota.Normalised{More: more}
	if !more {
		reply.Below = LowerPriorities.get(u, c.Priority)
	}
	if len(ids) == 0 {
		return reply, nil
	}
	r.ids = movable(u, ids)
	if more {
		r.open, r.high = false, u.partOfJob(all[rota.OrderMax]).Position
	}
	reply.Last = ids[len(ids)-1]
	if step := r.interval(); step >= 1 {
		reply.Count = renumber(u, r.ids, r.low, step)
	}
	return reply, nil
}
