package rules

import "github.com/rotajobs/rota"

func needClaim(n *Need, c *rota.Claim) {
	taken, known := n.taken(Taken{Command: c.ID})
	if known && len(taken) == 0 {
		n.heads(Heads{Types: c.Types, Limit: c.Limit, Bytes: rota.ClaimBytesMax})
	}
}

// decideClaim dispatches the head of the order: job and run change in one
// step. If this very command took jobs when it was sent before, it takes no
// others, so that no lease is taken that nobody knows of.
func decideClaim(w *World, c *rota.Claim) (rota.Reply, *rota.Error) {
	if len(w.taken.ids) > 0 {
		return &rota.Claimed{Jobs: stillOpen(w, w.taken.ids)}, nil
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

// stillOpen are those of the jobs whose leases are good: to answer with the
// others would have them run twice.
func stillOpen(w *World, ids []rota.ID) []*rota.Job {
	jobs := make([]*rota.Job, 0, len(ids))
	for _, id := range ids {
		if j := w.job(id); j.Run != nil && j.Run.Open() {
			jobs = append(jobs, j)
		}
	}
	return jobs
}
