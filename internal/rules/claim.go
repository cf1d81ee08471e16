package rules

import "github.com/rotajobs/rota"

func needClaim(n *Need, c *rota.Claim) {
	taken, known := n.taken(Taken{Command: c.ID, Types: c.Types})
	if known && len(taken) == 0 {
		n.heads(Heads{Types: c.Types, Limit: c.Limit})
	}
}

// decideClaim dispatches the head of the order: job and run change in one
// step. What this very command took when it was sent before is answered
// again, so that no lease is taken that nobody knows of.
func decideClaim(w *World, c *rota.Claim) (rota.Reply, *rota.Error) {
	if len(w.taken.ids) > 0 {
		return &rota.Claimed{Jobs: jobsOf(w, w.taken.ids)}, nil
	}
	known := map[string]bool{}
	for _, t := range c.Types {
		known[t] = true
	}
	claimed := make([]*rota.Job, 0, min(len(w.heads.ids), c.Limit))
	for _, id := range w.heads.ids {
		j := w.job(id)
		if !j.Ready() || !known[j.Type] || len(claimed) == c.Limit {
			continue
		}
		claimed = append(claimed, dispatch(w, c, id))
	}
	return &rota.Claimed{Jobs: claimed}, nil
}

func dispatch(w *World, c *rota.Claim, id rota.ID) *rota.Job {
	j := w.edit(id)
	j.Status = rota.StatusRunning
	j.StartedAt = w.Now
	j.Run = &rota.Run{
		ID: rota.RunID(c.ID, id), Runner: c.Worker, Life: c.Life, Token: c.TokenFor(id),
		StartedAt: w.Now, HeartbeatAt: w.Now, StaleAfter: micros(w.Now.Add(c.Lease)),
	}
	return j
}

func jobsOf(w *World, ids []rota.ID) []*rota.Job {
	jobs := make([]*rota.Job, len(ids))
	for i, id := range ids {
		jobs[i] = w.job(id)
	}
	return jobs
}
