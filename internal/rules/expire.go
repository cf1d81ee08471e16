package rules

import "github.com/rotajobs/rota"

func needExpire(n *Need, c *rota.Expire) {
	n.active()
	ids, _ := n.expiredWaits(expiredWaitsQuery(n.unit, c))
	for _, id := range ids {
		j := n.unit.job(id)
		needMet(n, j)
		needEnd(n, j, false)
	}
}

func expiredWaitsQuery(u *UnitOfWork, c *rota.Expire) ExpiredWaits {
	return ExpiredWaits{Now: u.Now.UnixMicro(), Limit: sweepLimit(c.Limit) + 1}
}

// decideExpire ends the wait of jobs whose dependencies did not complete in
// time, and expires the reservation whose time is over.
func decideExpire(u *UnitOfWork, c *rota.Expire) (rota.Reply, *rota.Error) {
	ids, more := firstOf(u.expiredWaits.get(expiredWaitsQuery(u, c)), sweepLimit(c.Limit))
	reply := &rota.Expired{More: more}
	for _, id := range ids {
		j := u.job(id)
		if j.Status != rota.StatusQueued || j.Hold&rota.HoldDependency == 0 {
			continue // the end of another job has settled it
		}
		if missing := unmet(u, j); missing != "" {
			skipJob(u, c, id, rota.CodeDependency, dependencyLate(missing), true)
			reply.Skipped = append(reply.Skipped, id)
			continue
		}
		releaseHold(u, id, rota.HoldDependency)
		reply.Freed = append(reply.Freed, id)
	}
	if r := u.activeReservation(); r != nil && !r.ExpiresAt.After(u.Now) {
		expireReservation(u, c, r)
		reply.Reservation = r.ID
	}
	return reply, nil
}
