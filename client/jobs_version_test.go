package client_test

import (
	"testing"

	"github.com/rotajobs/rota"
)

// TestVersionOfACommandIsCompared sends commands with a version that the job does not have, to a store and to a server.
func TestVersionOfACommandIsCompared(t *testing.T) {
	for name, q := range map[string]*queue{"embedded": newEmbedded(t), "remote": newRemote(t)} {
		job, other := q.enqueue(mail{To: "a"}), new(rota.NewID())
		for _, command := range []rota.Command{
			&rota.Edit{Meta: rota.NewMeta(q.Actor()), JobID: job.ID, Version: other, Priority: new(3)},
			&rota.Edit{Meta: rota.NewMeta(q.Actor()), JobID: job.ID, Version: other, RunNow: true},
			&rota.Cancel{Meta: rota.NewMeta(q.Actor()), JobID: job.ID, Version: other},
			&rota.Redrive{Meta: rota.NewMeta(q.Actor()), JobID: job.ID, Version: other},
		} {
			results, err := q.Store().Apply(t.Context(), rota.Batch{Commands: []rota.Command{command}})
			if err != nil {
				t.Fatal(err)
			}
			if e := results[0].Err; e == nil || e.Code != rota.Conflict || e.Field != "version" {
				t.Errorf("%s: %s: %v", name, command.Verb(), e)
			}
		}
	}
}
