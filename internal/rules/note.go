package rules

import "github.com/rotajobs/rota"

// decideNote stores progress, log path and artifacts of a run. After the end of
// the run only artifacts may be added, and nothing by a holder whose lease
// expired.
func decideNote(u *UnitOfWork, c *rota.Note) (rota.Reply, *rota.Error) {
	answers := make([]rota.LeaseAnswer, len(c.Items))
	for i := range c.Items {
		item := &c.Items[i]
		j := leased(u, &item.LeaseRef)
		if j == nil || leaseExpired(j.Run) {
			answers[i] = leaseLost(&item.LeaseRef)
			continue
		}
		run := u.edit(j.ID).Run
		addArtifacts(run, item.Artifacts)
		if run.Open() {
			noteOpen(run, item)
		}
		answers[i] = leaseAnswer(run)
	}
	return &rota.Noted{Items: answers}, nil
}

func noteOpen(run *rota.Run, item *rota.NoteItem) {
	if item.Progress != nil {
		run.Progress = item.Progress
	}
	if run.LogPath == "" {
		run.LogPath = item.LogPath
	}
}
