package storetest

import (
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// How a prune writes the acts of jobs to the audit.

// auditCreatedAgain sends an Enqueue again after its job was pruned. It is a new request then, and
// creates the job again with the same id. The acts of each are kept.
func auditCreatedAgain(y *story) {
	c := &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Type: "mail"}}}
	for round := 1; round <= 12; round++ {
		j := do[*rota.Enqueued](y, c).Jobs[0].Job
		y.advance(time.Second) // entries of the same time are sorted by id
		y.complete(y.claimOne())
		y.advance(time.Second)
		want(y, "acts", y.actsOf(j), strings.TrimSpace(strings.Repeat("JOB_EXECUTED:COMPLETED JOB_CREATED ", round)))
		want(y, "pruned", y.prune(j.ID).Executions, 1)
		want(y, "acts after the prune", y.actsOf(j), strings.TrimSpace(strings.Repeat("JOB_EXECUTED:COMPLETED JOB_CREATED ", round)))
		seen := map[rota.ID]bool{}
		for _, e := range y.audit(rota.AuditQuery{}) {
			want(y, "two entries with one id", seen[e.ID], false)
			seen[e.ID] = true
		}
	}
	y.wantNoViolations()
}

// pruneRows prunes executions that have more rows than one Prune changes: 300 of ten attempts, each
// with ten jobs and eleven audit entries.
func pruneRows(y *story) {
	const executions, attempts = 300, 10
	c := &rota.Enqueue{Meta: y.ids.meta()}
	for range executions {
		c.Jobs = append(c.Jobs, rota.NewJob{Type: "mail", MaxRetries: new(attempts - 1), Backoff: new(time.Duration(0))})
	}
	var ids []rota.ID
	for _, one := range do[*rota.Enqueued](y, c).Jobs {
		ids = append(ids, one.Job.ID)
	}
	for range attempts {
		f := &rota.Finish{Meta: y.ids.meta()}
		for _, j := range y.claim(executions) {
			f.Items = append(f.Items, rota.FinishItem{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed})
		}
		do[*rota.Finished](y, f)
	}
	written := (rota.PruneRowsMax + 2*attempts) / (2*attempts + 1)
	got := y.prune(ids...)
	want(y, "executions", got.Executions, written)
	want(y, "jobs", got.Jobs, written*attempts)
	want(y, "rest", len(got.Rest), executions-written)
	want(y, "first of the rest", got.Rest[0], ids[written])
	got = y.prune(got.Rest...)
	want(y, "executions of the rest", got.Executions, executions-written)
	want(y, "rest of the rest", len(got.Rest), 0)
	want(y, "jobs left", len(y.allJobs()), 0)
	want(y, "entries", len(y.audit(rota.AuditQuery{Limit: rota.PageMax})), executions*(attempts+1))
}
