package rules

import "github.com/rotajobs/rota"

// decideReady gives due jobs a position at the end of the order, so that they
// do not overtake jobs that were ready before.
func decideReady(u *UnitOfWork, c *rota.Ready) (rota.Reply, *rota.Error) {
	limit := sweepLimit(c.Limit)
	due, more := firstOf(queryOnce(&u.due, &u.orders.Due, Due{Now: u.Now, Limit: limit + 1}), limit)
	u.each(len(due), func(i int) {
		j := u.edit(due[i])
		u.together(
			func() { j.Position = endPosition(u, j) },
			func() { releaseHold(u, j.ID, rota.HoldDelay) },
		)
	})
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
