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

func auditPruned(y *story) {
	completed, skipped, cancelled, dead := y.endInEachWay()
	y.advance(time.Second)
	retried := y.running(rota.NewJob{Backoff: new(time.Duration(0))})
	y.fail(retried)
	y.complete(y.claimOne())
	y.declare("nightly", rota.ScheduleSpec{})
	fired := y.trigger("nightly")
	y.complete(y.claimOne())
	y.advance(time.Hour)
	before := y.auditTexts()
	want(y, "pruned", y.prune(completed.ID, skipped.ID, cancelled.ID, dead.ID, retried.ID, fired.ID).Executions, 6)
	want(y, "jobs left", len(y.allJobs()), 0)
	want(y, "the audit", strings.Join(y.auditTexts(), "\n"), strings.Join(before, "\n"))
	want(y, "acts of the retried execution", acts(y.audit(rota.AuditQuery{ExecutionID: retried.ID})), "JOB_EXECUTED:COMPLETED JOB_FAILED:FAILED JOB_CREATED")
	want(y, "acts of the job", y.actsOf(completed), "JOB_EXECUTED:COMPLETED JOB_CREATED")
	y.wantNoViolations()
}

func auditDropped(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	done := y.trigger("nightly")
	y.complete(y.claimOne())
	failed := y.trigger("nightly")
	y.failPermanently(y.claimOne())
	y.advance(time.Second)
	before := y.auditTexts()
	y.drop("nightly")
	hidden := y.auditTexts()
	want(y, "entries hidden by the drop", strings.Join(hidden[len(hidden)-len(before):], "\n"), strings.Join(before, "\n"))
	y.sweepAll(10)
	y.wantNotFound("the run", errOf(y.s.Execution(y.ctx, done.ID)))
	want(y, "the audit after the sweep", strings.Join(y.auditTexts(), "\n"), strings.Join(hidden, "\n"))
	want(y, "acts", y.actsOf(failed), "JOB_FAILED:FAILED")
	want(y, "newest act about the schedule", y.audit(rota.AuditQuery{Schedule: "nightly"})[0].Act, rota.AuditScheduleDeleted)
}

func auditPrunedTwice(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	c := &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{j.ID}}
	do[*rota.Pruned](y, c)
	before := y.auditTexts()
	do[*rota.Pruned](y, c)
	want(y, "the audit", strings.Join(y.auditTexts(), "\n"), strings.Join(before, "\n"))
	want(y, "acts", y.actsOf(j), "JOB_EXECUTED:COMPLETED JOB_CREATED")
}

func auditRetention(y *story) {
	for range 3 {
		y.throttle(rota.ThrottleSpec{Global: y.now.Second() + 1})
		y.advance(time.Second)
	}
	kept := y.enqueue(rota.NewJob{}) // its creation is derived, and stays as long as it
	all := y.writtenAudit()
	want(y, "removed before the first", y.pruneAudit(all[0].At, 10), 0)
	want(y, "removed", y.pruneAudit(all[2].At, 10), 2)
	left := y.writtenAudit()
	want(y, "left", len(left), 1)
	want(y, "the newest", left[0].ID, all[2].ID)
	want(y, "creation", y.actsOf(kept), "JOB_CREATED")
	y.wantNoViolations()
}
