package rules

import "github.com/rotajobs/rota"

func needReady(n *Need, c *rota.Ready) {
	due, _ := n.due(Due{Now: n.world.Now, Limit: sweep(c.Limit) + 1})
	for _, id := range due {
		n.tail(n.world.job(id).Priority)
	}
}

// decideReady gives due jobs a place at the end of the order: those who have
// waited in line are not overtaken by those who asked to come later.
func decideReady(w *World, c *rota.Ready) (rota.Reply, *rota.Error) {
	due, more := firstOf(w.due.ids, sweep(c.Limit))
	for _, id := range due {
		j := w.edit(id)
		j.Hold &^= rota.HoldDelay
		j.Position = w.append(j.Priority)
		if j.Hold == 0 && j.QueuedAt.IsZero() {
			j.QueuedAt = w.Now
		}
	}
	return &rota.Readied{Count: len(due), More: more}, nil
}

func sweep(limit int) int {
	if limit == 0 {
		return rota.SweepMax
	}
	return limit
}

// firstOf cuts a finding that was asked for with one more than the limit.
func firstOf(ids []rota.ID, limit int) ([]rota.ID, bool) {
	if len(ids) > limit {
		return ids[:limit], true
	}
	return ids, false
}
