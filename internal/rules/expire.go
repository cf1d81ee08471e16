package rules

import "github.com/rotajobs/rota"

// decideExpire ends the wait of jobs whose dependencies did not complete in
// time, and expires the reservation whose time is over.
func decideExpire(u *UnitOfWork, c *rota.Expire) (rota.Reply, *rota.Error) {
	Active.want(u, one)
	limit := sweepLimit(c.Limit)
	ids, more := firstOf(ExpiredWaits.get(u, ExpiredWaitsQuery{Now: u.Now.UnixMicro(), Limit: limit + 1}), limit)
	reply := &rota.Expired{More: more}
	u.each(len(ids), func(i int) {
		id := ids[i]
		j := u.job(id)
		if j.Status != rota.StatusQueued || j.Hold&rota.HoldDependency == 0 {
			return // the end of another job has settled it
		}
		if missing := unmet(u, j); missing != "" {
			skipJob(u, c, id, rota.CodeDependency, dependencyLate(missing), true)
			reply.Skipped = append(reply.Skipped, id)
			return
		}
		releaseHold(u, id, rota.HoldDependency)
		reply.Freed = append(reply.Freed, id)
	})
	if r := u.activeReservation(); r != nil && !r.ExpiresAt.After(u.Now) {
		expireReservation(u, c, r)
		reply.Reservation = r.ID
	}
	return reply, nil
}
