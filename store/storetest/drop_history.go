package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testDropHistory(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a drop hides history from every read at once, and a sweep removes it", historyHidden},
		{"a drop that keeps history leaves it readable", historyKept},
		{"history hidden by one drop stays hidden after a drop that keeps history", historyTwice},
		{"a running job is listed until it ends", historyRunning},
		{"all attempts of an execution are readable while the last one runs", historyAttempts},
		{"a hidden job cannot be redriven", historyRedrive},
		{"a redriven execution and its redrive are both removed", historyRedriven},
		{"a sweep removes history page by page", historyPages},
		{"a new definition of the same name and its jobs are not affected", historyNewDefinition},
		{"the history of other definitions stays readable", historyOfOtherDefinitions},
	})
}

// endRunsInEachWay fires a schedule three times, ends each run in another way, and returns the
// jobs.
func (y *story) endRunsInEachWay(name string) (completed, cancelled, dead *rota.Job) {
	y.Helper()
	completed = y.fireNext(name)
	y.complete(y.claimOne())
	cancelled = y.fireNext(name)
	y.cancel(cancelled.ID)
	dead = y.fireNext(name)
	y.failPermanently(y.claimOne())
	y.advance(time.Second)
	return completed, cancelled, dead
}

func historyHidden(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	completed, cancelled, dead := y.endRunsInEachWay("nightly")
	want(y, "dead letters", y.stats().Dead, 1)
	y.drop("nightly")
	for _, j := range []*rota.Job{completed, cancelled, dead} {
		_, err := y.s.Job(y.ctx, j.ID)
		y.wantNotFound("job", err)
		_, err = y.s.Execution(y.ctx, j.ID)
		y.wantNotFound("execution", err)
		_, err = y.s.Explain(y.ctx, j.ID)
		y.wantNotFound("explanation", err)
	}
	for _, q := range []rota.JobQuery{
		{},
		{Schedule: "nightly"},
		{Dead: true},
		{Tails: true},
		{Template: "nightly"},
		{Type: "mail"},
		{Oldest: true},
		{State: rota.StateCompleted},
		{Status: rota.StatusCancelled},
		{Schedule: "nightly", Dead: true},
		{After: completed.ID},
	} {
		wantIDs(y, "listed", y.listIDs(q))
		want(y, "counted", y.countJobs(y.s, q), 0)
	}
	want(y, "dead letters", y.stats().Dead, 0)
	want(y, "rows", y.sweepAll(0), 5) // three jobs, and two entries: the cancellation has been audited
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{}))
	want(y, "known to a prune", y.prune(completed.ID, cancelled.ID, dead.ID).Executions, 0)
}

func historyKept(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	completed, cancelled, dead := y.endRunsInEachWay("nightly")
	waits := y.fireNext("nightly")
	c := y.dropCommand("nightly")
	c.KeepHistory = true
	y.advance(time.Second)
	want(y, "answer", *do[*rota.Dropped](y, c), rota.Dropped{Cancelled: 1, Archived: true})
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), waits, dead, cancelled, completed)
	want(y, "rows", y.sweepAll(0), 0)
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), waits, dead, cancelled, completed)
	want(y, "counted", y.countJobs(y.s, rota.JobQuery{Schedule: "nightly"}), 4)
	want(y, "redriven", y.redrive(dead.ID).Schedule, "nightly")
}

func historyTwice(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.endRunsInEachWay("nightly")
	y.drop("nightly")
	y.unarchive("nightly")
	y.define("nightly", rota.ScheduleSpec{})
	y.advance(time.Second)
	later := y.trigger("nightly")
	y.complete(y.claimOne())
	y.advance(time.Second)
	c := y.dropCommand("nightly")
	c.KeepHistory = true
	do[*rota.Dropped](y, c)
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), later)
	want(y, "rows", y.sweepAll(0), 5)
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), later)
}

func historyRunning(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	j := y.claimOne()
	y.advance(time.Second)
	y.drop("nightly")
	want(y, "rows", y.sweepAll(0), 0)
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), j)
	y.complete(j)
	_, err := y.s.Job(y.ctx, j.ID)
	y.wantNotFound("the ended job", err)
	want(y, "to be swept", y.due().Sweep, true)
	want(y, "rows", y.sweepAll(0), 2)
}

func historyAttempts(y *story) {
	y.define("nightly", rota.ScheduleSpec{Policy: rota.PolicyPatch{Backoff: new(time.Duration(0))}})
	first := y.fireNext("nightly")
	y.fail(y.claimOne())
	y.makeReady()
	second := y.claimOne()
	y.advance(time.Second)
	y.drop("nightly")
	attempts, err := y.s.Execution(y.ctx, first.ID)
	wantIDs(y, "attempts", idsOf(must(y, "execution", attempts, err)), first, second)
	y.complete(second)
	_, err = y.s.Execution(y.ctx, first.ID)
	y.wantNotFound("execution", err)
	want(y, "rows", y.sweepAll(0), 4)
	want(y, "known to a prune", y.prune(first.ID).Executions, 0)
}

func historyRedrive(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	_, _, dead := y.endRunsInEachWay("nightly")
	y.drop("nightly")
	y.wantField(rota.NotFound, "job_id", y.redriveCommand(dead.ID))
}

func historyRedriven(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	_, _, dead := y.endRunsInEachWay("nightly")
	y.redrive(dead.ID)
	y.complete(y.claimOne())
	y.advance(time.Second)
	y.drop("nightly")
	want(y, "rows", y.sweepAll(1), 7)
	want(y, "jobs", len(y.allJobs()), 0)
}

func historyPages(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	for range 5 {
		y.fireNext("nightly")
		y.complete(y.claimOne())
	}
	y.advance(time.Second)
	y.drop("nightly")
	swept := y.sweep(2)
	want(y, "rows", swept.Count, 2) // a job and its audit entry
	want(y, "more", swept.More, true)
	wantIDs(y, "listed between pages", y.listIDs(rota.JobQuery{}))
	y.wantNoViolations()
	want(y, "rows", y.sweepAll(2), 8)
}

func historyNewDefinition(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.endRunsInEachWay("nightly")
	y.trigger("nightly")
	old := y.claimOne()
	y.advance(time.Second)
	y.drop("nightly")
	y.unarchive("nightly")
	y.define("nightly", rota.ScheduleSpec{})
	done := y.trigger("nightly")
	y.complete(y.claimOne())
	waits := y.trigger("nightly")
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), waits, done, old)
	want(y, "rows", y.sweepAll(0), 5)
	y.complete(old)
	want(y, "rows", y.sweepAll(0), 2)
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), waits, done)
	want(y, "claimed", y.claimOne().ID, waits.ID)
}

func historyOfOtherDefinitions(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.define("weekly", rota.ScheduleSpec{})
	y.endRunsInEachWay("nightly")
	completed, cancelled, dead := y.endRunsInEachWay("weekly")
	plain := y.running(rota.NewJob{})
	y.complete(plain)
	y.drop("nightly")
	want(y, "rows", y.sweepAll(0), 5)
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{}), plain, dead, cancelled, completed)
	want(y, "counted", y.countJobs(y.s, rota.JobQuery{}), 4)
	want(y, "dead letters", y.stats().Dead, 1)
}
