package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testAudit(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"the end of each run is an entry with its outcome", auditEnds},
		{"a timed-out run is JOB_FAILED", auditTimeout},
		{"a job that a caller enqueued is JOB_CREATED, a retry or a fire is not", auditCreations},
		{"a job without an actor has no creation", auditNoActor},
		{"a cancelled job has one JOB_CANCELLED, of the actor that requested it", auditCancels},
		{"a run that was asked to stop shows who asked, why, and how it ended", auditStops},
		{"a redrive with changed params shows old and new", auditRedrives},
		{"acts of Rota have the actor rota", auditOwnActs},
		{"durations are shown as text", auditDurations},
		{"a run that completed although it was asked to stop shows no reason of the request", auditCompletedAnyway},
		{"jobs of internal types have no entries", auditInternal},
		{"a changed schedule shows old and new", auditScheduleChanges},
		{"a created and a deleted schedule show what they were", auditCreatedDeleted},
		{"each change of state shows old and new", auditStates},
		{"changed limits and types show old and new", auditLimitsAndTypes},
		{"an edited or moved job shows old and new", auditJobChanges},
		{"secrets are left out of changes", auditSecrets},
		{"secrets are left out of errors and reasons", auditSecretDetails},
		{"the entry of a created job has its type and template", auditCreated},
		{"a long value is cut", auditLong},
		{"a changed template modifies each schedule that uses it", auditTemplateUsers},
		{"the entries of a schedule show the definition of its template", auditTemplateOfSchedule},
		{"of many schedules of a template the first have entries", auditManyUsers},
		{"a removed schedule modifies the schedules that depend on it", auditDependents},
		{"pruning changes nothing that a reader sees", auditPruned},
		{"a drop changes no earlier entry", auditDropped},
		{"an execution that is pruned twice leaves its entries once", auditPrunedTwice},
		{"an enqueue sent again after its job was pruned keeps the acts of both jobs", auditCreatedAgain},
		{"pages of any size list the same entries", auditPaging},
		{"a query selects by time, actor, act and subject", auditFilters},
		{"a filter reads a bounded part of a long history", auditBounded},
		{"an invalid query is refused", auditInvalid},
		{"entries past the retention are removed, oldest first", auditRetention},
	})
}

// audit returns the entries that a query selects, newest first.
func (y *story) audit(q rota.AuditQuery) []rota.AuditEntry {
	y.Helper()
	all, err := auditPages(y.ctx, y.s, q)
	for _, e := range must(y, "audit", all, err) {
		if e.Actor == "" || e.Outcome == "" {
			y.Errorf("an entry has no actor or no outcome: %s", auditText(&e))
		}
	}
	return all
}

// acts returns the acts of entries, newest first, with their outcomes except OK.
func acts(entries []rota.AuditEntry) string {
	return joinNames(entries, func(e rota.AuditEntry) string { return strings.TrimSuffix(e.Act+":"+e.Outcome, ":"+rota.AuditOK) })
}

// actsOf returns the acts about a job, newest first.
func (y *story) actsOf(j *rota.Job) string {
	y.Helper()
	return acts(y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID)}))
}

// auditTexts returns everything that a reader sees.
func (y *story) auditTexts() (lines []string) {
	y.Helper()
	for _, e := range y.audit(rota.AuditQuery{}) {
		lines = append(lines, auditText(&e))
	}
	return lines
}

func auditEnds(y *story) {
	once := rota.NewJob{MaxRetries: new(0)}
	for _, end := range []struct {
		it   rota.FinishItem
		acts string
	}{
		{rota.FinishItem{Outcome: rota.OutcomeCompleted}, "JOB_EXECUTED:COMPLETED JOB_CREATED"},
		{rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "disk full"}, "JOB_FAILED:FAILED JOB_CREATED"},
		{rota.FinishItem{Outcome: rota.OutcomeSkipped}, "JOB_EXECUTED:SKIPPED JOB_CREATED"},
		{rota.FinishItem{Outcome: rota.OutcomeCancelled}, "JOB_CANCELLED:CANCELLED JOB_CREATED"},
	} {
		j := y.running(once)
		y.advance(time.Second)
		y.mustFinish(j, end.it)
		want(y, "acts", y.actsOf(j), end.acts)
		e := y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID), Limit: 1})[0]
		run := y.job(j.ID).Run
		wantTime(y, "at", e.At, y.now)
		want(y, "actor", e.Actor, "ada")
		want(y, "job", e.JobID, j.ID)
		want(y, "execution", e.ExecutionID, j.ID)
		want(y, "run", e.RunID, run.ID)
		want(y, "detail", e.Detail, run.Error)
	}
}

func auditTimeout(y *story) {
	j := y.running(rota.NewJob{MaxRetries: new(0)})
	y.advance(time.Second)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout, Error: "too slow"})
	want(y, "acts", y.actsOf(j), "JOB_FAILED:FAILED JOB_CREATED")
	want(y, "failures", acts(y.audit(rota.AuditQuery{Acts: []string{rota.AuditJobFailed}})), "JOB_FAILED:FAILED")
	want(y, "cancellations", len(y.audit(rota.AuditQuery{Acts: []string{rota.AuditJobCancelled}})), 0)
}

func auditCompletedAnyway(y *story) {
	j := y.running(rota.NewJob{})
	c := y.cancelCommand(j.ID)
	c.Reason = "not needed"
	do[*rota.CancelledJob](y, c)
	y.advance(time.Second)
	y.complete(j)
	entries := y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID)})
	want(y, "acts", acts(entries), "JOB_EXECUTED:COMPLETED JOB_STOPPING JOB_CREATED")
	want(y, "detail of the end", entries[0].Detail, "")
	want(y, "detail of the request", entries[1].Detail, "not needed")
}

func auditCreations(y *story) {
	first := y.running(rota.NewJob{Backoff: new(time.Duration(0))})
	want(y, "acts while it runs", y.actsOf(first), "JOB_CREATED")
	y.fail(first)
	second := y.claimOne()
	want(y, "acts of the retry", y.actsOf(second), "none")
	y.complete(second)
	want(y, "acts of the ended retry", y.actsOf(second), "JOB_EXECUTED:COMPLETED")
	y.declare("nightly", rota.ScheduleSpec{})
	fired := y.fireNext("nightly")
	want(y, "acts of a fire", y.actsOf(fired), "none")
	triggered := y.trigger("nightly")
	want(y, "acts of a trigger", y.actsOf(triggered), "none")
	want(y, "acts of the schedule", acts(y.audit(rota.AuditQuery{Schedule: "nightly"})), "JOB_TRIGGERED JOB_CREATED")
}

func auditSecretDetails(y *story) {
	failed := y.running(rota.NewJob{MaxRetries: new(0)})
	y.mustFinish(failed, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "dial postgres://app:HUSH@db: refused"})
	cancelled := y.enqueue(rota.NewJob{})
	c := y.cancelCommand(cancelled.ID)
	c.Reason = "leaked token=HUSH"
	do[*rota.CancelledJob](y, c)
	y.advance(time.Hour)
	before := y.auditTexts()
	y.prune(failed.ID, cancelled.ID)
	want(y, "the audit after the prune", strings.Join(y.auditTexts(), "\n"), strings.Join(before, "\n"))
	for j, detail := range map[*rota.Job]string{failed: "dial postgres://app:[hidden]@db: refused", cancelled: "leaked token=[hidden]"} {
		want(y, "detail", y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID), Limit: 1})[0].Detail, detail)
	}
}

func auditCreated(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	plain, made := y.running(rota.NewJob{Type: "mail"}), y.running(rota.NewJob{Template: "report"})
	for j, changes := range map[*rota.Job]string{
		plain: `{"type":{"old":null,"new":"mail"}}`,
		made:  `{"template":{"old":null,"new":"report"},"type":{"old":null,"new":"mail"}}`,
	} {
		q := rota.AuditQuery{Subject: rota.JobSubject(j.ID), Acts: []string{rota.AuditJobCreated}}
		want(y, "changes", string(y.audit(q)[0].Changes), changes)
		y.complete(j)
		y.advance(time.Hour)
		y.prune(j.ID)
		want(y, "changes after the prune", string(y.audit(q)[0].Changes), changes)
	}
}

func auditNoActor(y *story) {
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = ""
	j := do[*rota.Enqueued](y, c).Jobs[0].Job
	want(y, "acts", y.actsOf(j), "none")
	y.complete(y.claimOne())
	want(y, "acts of its end", y.actsOf(j), "JOB_EXECUTED:COMPLETED")
}

func auditCancels(y *story) {
	queued := y.enqueue(rota.NewJob{})
	y.advance(time.Second)
	c := y.cancelCommand(queued.ID)
	c.Actor = "eve"
	do[*rota.CancelledJob](y, c)
	want(y, "acts of a queued job", y.actsOf(queued), "JOB_CANCELLED:CANCELLED JOB_CREATED")
	running := y.running(rota.NewJob{})
	y.advance(time.Second)
	c = y.cancelCommand(running.ID)
	c.Actor = "eve"
	do[*rota.CancelledJob](y, c)
	want(y, "acts of a running job", y.actsOf(running), "JOB_STOPPING JOB_CREATED")
	y.advance(time.Second)
	y.mustFinish(running, rota.FinishItem{Outcome: rota.OutcomeCancelled})
	want(y, "acts after its end", y.actsOf(running), "JOB_CANCELLED:CANCELLED JOB_STOPPING JOB_CREATED")
	for _, e := range y.audit(rota.AuditQuery{Acts: []string{rota.AuditJobCancelled}}) {
		want(y, "actor", e.Actor, "eve")
	}
	group, members := y.groupOfThree(rota.GroupParallel, "")
	y.cancelGroup(group)
	for _, j := range members {
		want(y, "acts of a member", y.actsOf(j), "JOB_CANCELLED:CANCELLED JOB_CREATED")
	}
}

// auditStops ends runs that were asked to stop, and prunes them.
func auditStops(y *story) {
	for _, one := range []struct{ reason, err, detail string }{
		{"not needed", "", "not needed"}, {"not needed", "interrupted", "not needed"}, {"", "interrupted", "interrupted"}, {"token=HUSH", "", "token=[hidden]"}, {"", "", ""},
	} {
		j := y.running(rota.NewJob{})
		y.advance(time.Second)
		c := y.cancelCommand(j.ID)
		c.Actor, c.Reason = "eve", one.reason
		do[*rota.CancelledJob](y, c)
		do[*rota.CancelledJob](y, y.cancelCommand(j.ID)) // a second request changes nothing
		y.advance(time.Second)
		y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, Error: one.err})
		run := y.job(j.ID).Run.ID
		for range 2 {
			entries := y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID)})
			want(y, "acts", acts(entries), "JOB_CANCELLED:CANCELLED JOB_STOPPING JOB_CREATED")
			for _, e := range entries[:2] {
				want(y, "actor", e.Actor, "eve")
				want(y, "run", e.RunID, run)
			}
			want(y, "detail of the end", entries[0].Detail, one.detail)
			want(y, "outcome of the request", entries[1].Outcome, rota.AuditOK)
			y.advance(time.Second)
			y.prune(j.ID)
		}
	}
}

func auditOwnActs(y *story) {
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = ""
	own := do[*rota.Enqueued](y, c).Jobs[0].Job
	y.complete(y.claimOne())
	y.declare("once", rota.ScheduleSpec{At: y.now.Add(time.Hour), OnCompletion: rota.CompletionDrop})
	fired := y.fireNext("once")
	y.advance(time.Second)
	j := y.claimOne()
	finish := y.finishCommand(j, rota.OutcomeCompleted, false)
	finish.Actor = "a worker"
	do[*rota.Finished](y, finish)
	y.declare("often", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	y.fireNext("often")
	running := y.claimOne()
	y.advanceTo(y.schedule("often").NextFire)
	fire := y.fireCommand("often")
	fire.Actor = ""
	do[*rota.Fired](y, fire)
	y.advance(time.Second)
	y.mustFinish(running, rota.FinishItem{Outcome: rota.OutcomeCancelled})
	for what, q := range map[string]rota.AuditQuery{
		"JOB_EXECUTED:COMPLETED":               {Subject: rota.JobSubject(own.ID)},
		"JOB_DELETED":                          {Subject: "schedule once", Acts: []string{rota.AuditScheduleDeleted}},
		"JOB_CANCELLED:CANCELLED JOB_STOPPING": {Subject: rota.JobSubject(running.ID)},
	} {
		q.Actor = rota.SystemActor
		want(y, "acts of Rota", acts(y.audit(q)), what)
	}
	want(y, "acts of the worker", acts(y.audit(rota.AuditQuery{Actor: "a worker"})), "none")
	want(y, "fired", fired.ID, j.ID)
}

func auditInternal(y *story) {
	_, own := y.jobWithDelivery()
	want(y, "acts", y.actsOf(own), "none")
	for _, e := range y.audit(rota.AuditQuery{}) {
		want(y, "an entry about the delivery", e.JobID == own.ID, false)
	}
}
