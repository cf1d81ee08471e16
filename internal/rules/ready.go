package rules

import "github.com/rotajobs/rota"

func needReady(n *Need, c *rota.Ready) {
	due, _ := n.due(Due{Now: n.unit.Now, Limit: sweepLimit(c.Limit) + 1})
	for _, id := range due {
		j := n.unit.job(id)
		n.tail(j.Priority)
		n.keyQueue(j.ConcurrencyKey)
	}
}

// decideReady gives due jobs a position at the end of the order, so that they
// do not overtake jobs that were ready before.
func decideReady(u *UnitOfWork, c *rota.Ready) (rota.Reply, *rota.Error) {
	due, more := firstOf(u.due.ids, sweepLimit(c.Limit))
	for _, id := range due {
		u.edit(id).Position = endPosition(u, u.job(id))
		releaseHold(u, id, rota.HoldDelay)
	}
	return &rota.Readied{Count: len(due), More: more}, nil
}

func sweepLimit(limit int) int {
	if limit == 0 {
		return rota.SweepMax
	}
	return limit
}

// firstOf cuts a list that was queried with one more than the limit.
func firstOf(ids []rota.ID, limit int) ([]rota.ID, bool) {
	if len(ids) > limit {
		return ids[:limit], true
	}
	return ids, false
}
