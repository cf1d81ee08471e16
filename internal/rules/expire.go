package rules

import "github.com/rotajobs/rota"

func needExpire(n *Need, c *rota.Expire) {
	n.active()
	ids, _ := n.waits(overdue(n.unit, c))
	for _, id := range ids {
		j := n.unit.job(id)
		needMet(n, j)
		needEnd(n, j, false)
	}
}

func overdue(w *UnitOfWork, c *rota.Expire) ExpiredWaits {
	return ExpiredWaits{Now: w.Now.UnixMicro(), Limit: sweep(c.Limit) + 1}
}

// decideExpire ends the wait of jobs whose dependencies did not complete in
// time, and gives up the reservation whose time is over.
func decideExpire(w *UnitOfWork, c *rota.Expire) (rota.Reply, *rota.Error) {
	ids, more := firstOf(w.waits.get(overdue(w, c)), sweep(c.Limit))
	reply := &rota.Expired{More: more}
	for _, id := range ids {
		j := w.job(id)
		if j.Status != rota.StatusQueued || j.Hold&rota.HoldDependency == 0 {
			continue // the end of another has settled it
		}
		if missing := unmet(w, j); missing != "" {
			skip(w, c, id, rota.CodeDependency, tooLate(missing), true)
			reply.Skipped = append(reply.Skipped, id)
			continue
		}
		free(w, id, rota.HoldDependency)
		reply.Freed = append(reply.Freed, id)
	}
	if r := w.activeReservation(); r != nil && !r.ExpiresAt.After(w.Now) {
		expireReservation(w, c, r)
		reply.Reservation = r.ID
	}
	return reply, nil
}
