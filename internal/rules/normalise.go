package rules

import (
	"cmp"

	"github.com/rotajobs/rota"
)

// decideNormalise renumbers a page of one priority, between the position of the
// job before the page and that of the job after it. So the order is right after
// each page, whatever its size: no job of the page passes a job outside of it. A
// new job is appended behind the last job of the priority, which only the last
// page renumbers, so it passes none of the jobs of an earlier page.
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
	limit := cmp.Or(c.Limit, rota.OrderMax)
	all := OrderPages.get(u, OrderPage{Priority: c.Priority, From: c.After, Limit: limit + 1})
	ids, more := firstOf(all, limit)
	reply := &rota.Normalised{More: more}
	if !more {
		reply.Below = LowerPriorities.get(u, c.Priority)
	}
	if len(ids) == 0 {
		return reply, nil
	}
	r.ids = movable(u, ids)
	if more {
		r.open, r.high = false, u.partOfJob(all[limit]).Position
	}
	reply.Last = ids[len(ids)-1]
	if step := r.interval(); step >= 1 {
		reply.Count = renumber(u, r.ids, r.low, step)
	}
	return reply, nil
}
