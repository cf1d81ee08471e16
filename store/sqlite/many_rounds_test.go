package sqlite

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestAllWithManyMembersOfOneKeyIsApplied cancels jobs of a limited concurrency key and enqueues others,
// in one command. Each member changes the key queue and the end of the priority that the next one
// reads.
func TestAllWithManyMembersOfOneKeyIsApplied(t *testing.T) {
	s := openTest(t, Config{})
	apply(t, s, putLimits(0, rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "k", Concurrency: 1}}}))
	jobs := make([]rota.NewJob, 300)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "mail", ConcurrencyKey: new("k")}
	}
	queued := apply(t, s, at(0, enqueue(jobs...)))[0].Reply.(*rota.Enqueued).Jobs
	all := &rota.All{Meta: rota.NewMeta("ada")}
	cancel := func(id rota.ID) {
		all.Members = append(all.Members, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: id})
	}
	for i := range 40 {
		cancel(queued[i].Job.ID)
		cancel(queued[len(queued)-1-i].Job.ID)
		last := enqueue(rota.NewJob{Type: "mail", ConcurrencyKey: new("k")})
		all.Members = append(all.Members, last)
		cancel(last.JobID(0))
	}
	apply(t, s, at(time.Second, all))
	verifyClean(t, s)
}
