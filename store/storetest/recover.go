package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testRecover shows the rows of the recovery matrix that are about jobs, then the runs that
// recovery must not change.
func testRecover(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"queued jobs are not changed", recoverQueued},
		{"running without a run: a failed run is created and retried", recoverNoRun},
		{"running with an open run of an earlier incarnation: the run is failed and retried", recoverOpenRun},
		{"running with a completed run: the job is closed", recoverCompletedRun},
		{"running with a failed run: the job is closed and retried", recoverFailedRun},
		{"an ended run of another process is settled too", recoverOthersEnded},
		{"failed without its retry: the retry is created once", recoverNoRetry},
		{"failed with its attempts used up: no retry, a dead letter", recoverDead},
		{"a retry that exists is not created again", recoverRetryExists},
		{"the retry after a shutdown is ready at once", recoverShutdown},
		{"an open run that was asked to stop is cancelled and not retried", recoverCancelled},
		{"leases of this incarnation, of other processes and of workers without an incarnation are not changed", recoverOthers},
		{"a reused name recovers the runs of its former incarnation", recoverReusedName},
		{"the former incarnation cannot write after the recovery", recoverFormerIncarnation},
		{"recovery works page by page and passes over runs that it must not change", recoverPages},
		{"a dead execution releases its key in recovery too", recoverKey},
		{"recovery is audited", recoverAudit},
	})
}

// recoverOne recovers exactly one job, and returns its settlement.
func (y *story) recoverOne(j *rota.Job, act rota.Settling) rota.Settlement {
	y.Helper()
	got := y.recover()
	if len(got.Jobs) != 1 || got.More {
		y.Fatalf("%d jobs were recovered, more %v; want 1", len(got.Jobs), got.More)
	}
	want(y, "job", got.Jobs[0].JobID, j.ID)
	want(y, "act", got.Jobs[0].Act, act)
	y.wantNothingToRecover()
	return got.Jobs[0]
}

// wantNothingToRecover wants a recovery to find nothing.
func (y *story) wantNothingToRecover() {
	y.Helper()
	before := y.dump()
	if again := y.recover(); len(again.Jobs) != 0 || again.More {
		y.Errorf("a second recovery found %v", again.Jobs)
	}
	y.wantUnchanged(before)
}

func recoverQueued(y *story) {
	y.enqueueMany(3)
	y.enqueue(rota.NewJob{Delay: time.Hour})
	y.wantNothingToRecover()
}

func recoverNoRun(y *story) {
	j := y.running(rota.NewJob{})
	y.damage(j.ID, BreakRun)
	y.advance(time.Minute)
	c := &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo}
	got := do[*rota.Recovered](y, c)
	retry := rota.RetryID(c.ID, j.ID)
	want(y, "recovered", len(got.Jobs), 1)
	want(y, "settlement", got.Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunMade, Outcome: rota.OutcomeFailed, Sequel: rota.SequelRetry, RetryID: retry,
	})
	row := y.job(j.ID)
	created := rota.Run{
		ID: rota.RunID(c.ID, j.ID), Runner: "w1", Incarnation: incarnationTwo,
		StartedAt: j.StartedAt, HeartbeatAt: j.StartedAt, StaleAfter: j.StartedAt,
		Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeLeaseExpired, FinishedAt: y.now,
	}
	var expected, actual text
	expected.run("", &created)
	actual.run("", row.Run)
	want(y, "difference of the created run", difference(expected.String(), actual.String()), "")
	wantTime(y, "finished at", row.FinishedAt, y.now)
	want(y, "attempt of the retry", y.job(retry).Attempt, 2)
	y.wantNothingToRecover()
}

func recoverOpenRun(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Second)
	got := y.recoverOne(j, rota.SettledRunFailed)
	want(y, "outcome", got.Outcome, rota.OutcomeFailed)
	want(y, "sequel", got.Sequel, rota.SequelRetry)
	row := y.job(j.ID)
	want(y, "error code", row.Run.ErrorCode, rota.CodeLeaseExpired)
	want(y, "runner", row.Run.Runner, "w1")
	wantTime(y, "run finished at", row.Run.FinishedAt, y.now)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	wantTime(y, "retry at", y.job(got.RetryID).RunAt, y.now.Add(time.Minute))
}

func recoverCompletedRun(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	ended := y.now
	y.damage(j.ID, BreakClose)
	y.advance(time.Minute)
	got := y.recoverOne(j, rota.SettledJobClosed)
	want(y, "outcome", got.Outcome, rota.OutcomeCompleted)
	want(y, "sequel", got.Sequel, rota.SequelNone)
	wantTime(y, "finished at", y.job(j.ID).FinishedAt, ended)
}

func recoverFailedRun(y *story) {
	j := y.running(rota.NewJob{})
	y.fail(j)
	ended := y.now
	y.damage(j.ID, BreakClose)
	y.advance(time.Minute)
	got := y.recoverOne(j, rota.SettledJobClosed)
	want(y, "sequel", got.Sequel, rota.SequelRetry)
	row := y.job(j.ID)
	wantTime(y, "finished at", row.FinishedAt, ended)
	want(y, "error code", row.Run.ErrorCode, "dns")
	wantTime(y, "retry at", y.job(got.RetryID).RunAt, y.now.Add(time.Minute))
}

func recoverNoRetry(y *story) {
	j := y.running(rota.NewJob{})
	y.fail(j)
	ended := y.now
	y.damage(j.ID, BreakRetry)
	y.advance(time.Minute)
	got := y.recoverOne(j, rota.SettledRetryMade)
	want(y, "sequel", got.Sequel, rota.SequelRetry)
	wantTime(y, "finished at", y.job(j.ID).FinishedAt, ended)
	chain, err := y.s.Execution(y.ctx, j.ID)
	if err != nil || len(chain) != 2 {
		y.Fatalf("the execution has %d attempts, %v", len(chain), err)
	}
	want(y, "the retry", chain[1].ID, got.RetryID)
}

func recoverDead(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.fail(j)
	y.damage(j.ID, BreakRetry)
	got := y.recoverOne(j, rota.SettledRetryMade)
	want(y, "sequel", got.Sequel, rota.SequelDead)
	want(y, "retry", got.RetryID, rota.ID{})
}

func recoverRetryExists(y *story) {
	j := y.running(rota.NewJob{})
	retry := y.fail(j).RetryID
	before := jobText(y.job(retry))
	y.damage(j.ID, BreakSequel)
	y.advance(time.Minute)
	got := y.recoverOne(j, rota.SettledRetryMade)
	want(y, "sequel", got.Sequel, rota.SequelRetry)
	want(y, "retry", got.RetryID, retry)
	want(y, "difference of the retry", difference(before, jobText(y.job(retry))), "")
	want(y, "jobs", len(y.allJobs()), 2)
}

func (y *story) allJobs() []*rota.Job {
	y.Helper()
	jobs, err := allJobs(y.ctx, y.s, rota.JobQuery{Limit: dumpPage})
	if err != nil {
		y.Fatalf("jobs: %v", err)
	}
	return jobs
}

func recoverShutdown(y *story) {
	j := y.running(rota.NewJob{})
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown})
	y.damage(j.ID, BreakRetry)
	y.advance(time.Minute)
	got := y.recoverOne(j, rota.SettledRetryMade)
	want(y, "claimed", y.claimOne().ID, got.RetryID)
}

func recoverCancelled(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	got := y.recoverOne(j, rota.SettledRunFailed)
	want(y, "outcome", got.Outcome, rota.OutcomeCancelled)
	want(y, "sequel", got.Sequel, rota.SequelNone)
}

// claimAs enqueues a job and claims it for a worker.
func (y *story) claimAs(worker string, incarnation rota.ID) *rota.Job {
	y.Helper()
	y.enqueue(rota.NewJob{})
	c := y.claimCommand(1)
	c.Worker, c.Incarnation = worker, incarnation
	return do[*rota.Claimed](y, c).Jobs[0]
}

func recoverOthers(y *story) {
	y.claimAs("w1", incarnationTwo)
	y.claimAs("w2", incarnationOne)
	y.claimAs("w1", rota.ID{})
	y.complete(y.claimAs("w1", incarnationOne))
	y.advance(100 * time.Hour)
	y.wantNothingToRecover()
}

func recoverOthersEnded(y *story) {
	for _, how := range []Breakage{BreakClose, BreakRetry} {
		j := y.claimAs("w2", incarnationOther)
		y.fail(j)
		y.damage(j.ID, how)
		got := y.recover()
		want(y, "recovered", len(got.Jobs), 1)
		want(y, "sequel", y.job(j.ID).Sequel, rota.SequelRetry)
	}
	y.wantNothingToRecover()
}

func recoverReusedName(y *story) {
	former := y.claimAs("w1", incarnationOther)
	y.claimAs("w1", incarnationTwo)
	y.recoverOne(former, rota.SettledRunFailed)
}

func recoverFormerIncarnation(y *story) {
	j := y.running(rota.NewJob{})
	y.recover()
	before := y.dump()
	want(y, "heartbeat", y.heartbeat(j).Code, rota.LeaseLost)
	want(y, "finish", y.finish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted}).Code, rota.LeaseLost)
	want(y, "finish as failed", y.finish(j, rota.FinishItem{Outcome: rota.OutcomeFailed}).Code, rota.LeaseLost)
	y.wantUnchanged(before)
}

func recoverPages(y *story) {
	for range 4 {
		y.claimAs("w2", incarnationOther)
	}
	var former []*rota.Job
	for range 5 {
		former = append(former, y.claimAs("w1", incarnationOne))
	}
	for page := range 3 {
		got := do[*rota.Recovered](y, &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo, Limit: 2})
		want(y, "more", got.More, page < 2)
		for _, s := range got.Jobs {
			want(y, "recovered", s.JobID, former[0].ID)
			former = former[1:]
		}
	}
	want(y, "left over", len(former), 0)
}

func recoverKey(y *story) {
	n := keyed
	n.MaxRetries = ptr(0)
	j := y.running(n)
	want(y, "sequel", y.recoverOne(j, rota.SettledRunFailed).Sequel, rota.SequelDead)
	y.wantKeyFree()
}

func recoverAudit(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Second)
	c := &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo}
	do[*rota.Recovered](y, c)
	y.wantAudit(rota.AuditEntry{
		ID: rota.AuditID(c.ID, c.Verb(), j.ID), At: y.now, Actor: "ada", Act: rota.AuditJobRecovered, JobID: j.ID, Detail: string(rota.SettledRunFailed),
	})
}
