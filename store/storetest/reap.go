package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testReap(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a stale run is failed and retried", reapStale},
		{"a lease that is not stale is not reaped", reapHealthy},
		{"a reap of a run that has just completed changes nothing", reapCompleted},
		{"the former holder cannot write after the reap", reapFormerHolder},
		{"a finish after the reap is answered with lease lost and does not change the retry", reapThenFinish},
		{"a process never reaps its own live runs", reapOwn},
		{"a reap without an incarnation reaps every stale run", reapWithoutIncarnation},
		{"a run without an incarnation is reaped by every process", reapRunWithoutIncarnation},
		{"a run that was asked to stop is cancelled and not retried", reapCancelled},
		{"a run with its attempts used up is dead", reapDead},
		{"a reap passes over a first page of runs that it must not reap", reapPastHealthy},
		{"stale runs are reaped in the order they went stale, page by page", reapPages},
		{"a reused worker name does not protect runs of its former incarnation", reapSameName},
		{"a lease that ends too late after the clock is set back is shortened", reapLeaseTooLong},
		{"a process shortens its own lease that ends too late", reapOwnLeaseTooLong},
		{"a healthy run without a timeout is not reaped", reapWithoutTimeout},
		{"a remote run that does not stop after a cancel is cancelled when the grace is over", reapRemoteCancelled},
		{"a remote run that does not stop at its deadline times out when the grace is over", reapRemoteTimedOut},
		{"a reap that keeps stale leases ends only remote runs that were to stop", reapKeepStale},
		{"a remote run that completed within the grace is finished after it", finishRemoteLate},
		{"the finish of a remote run within the grace is answered alike when it is sent again", finishRemoteInTime},
		{"the engine of a store ends its own runs that do not stop", reapLocalOverdue},
	})
}

func reapStale(y *story) {
	j := y.running(rota.NewJob{Params: []byte(`{"a":1}`)})
	y.advance(lease + time.Microsecond)
	c := &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOther}
	got := do[*rota.Reaped](y, c)
	want(y, "reaped", len(got.Jobs), 1)
	retry := rota.RetryID(c.ID, j.ID)
	want(y, "settlement", got.Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunExpired, Outcome: rota.OutcomeFailed, Sequel: rota.SequelRetry, RetryID: retry,
	})
	row := y.job(j.ID)
	want(y, "error code", row.Run.ErrorCode, rota.CodeLeaseExpired)
	wantTime(y, "run finished at", row.Run.FinishedAt, y.now)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	want(y, "sequel", row.Sequel, rota.SequelRetry)
	r := y.job(retry)
	want(y, "attempt", r.Attempt, 2)
	want(y, "retry of", r.RetryOf, j.ID)
	want(y, "params", string(r.Params), `{"a":1}`)
	wantTime(y, "run at", r.RunAt, y.now.Add(time.Minute))
	y.wantAudit()
}

func reapHealthy(y *story) {
	y.running(rota.NewJob{})
	y.advance(lease)
	before := y.dump()
	want(y, "reaped", len(y.reap().Jobs), 0)
	y.wantUnchanged(before)
}

func reapCompleted(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Hour)
	y.complete(j)
	before := y.dump()
	want(y, "reaped", len(y.reap().Jobs), 0)
	y.wantUnchanged(before)
}

func reapFormerHolder(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Hour)
	y.reap()
	before := y.dump()
	want(y, "heartbeat", y.heartbeat(j).Code, rota.LeaseLost)
	for _, o := range []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeCancelled, rota.OutcomeSkipped} {
		want(y, "finish as "+string(o), y.finish(j, rota.FinishItem{Outcome: o}).Code, rota.LeaseLost)
	}
	y.wantUnchanged(before)
	y.note(j, rota.NoteItem{Progress: []byte(`1`), LogPath: "log"})
	y.wantUnchanged(before)
}

func reapThenFinish(y *story) {
	j := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
	y.advance(time.Hour)
	retry := y.reap().Jobs[0].RetryID
	second := y.claimOne()
	want(y, "the retry runs", second.ID, retry)
	before := y.dump()
	want(y, "late finish", y.finish(j, rota.FinishItem{Outcome: rota.OutcomeFailed}).Code, rota.LeaseLost)
	y.wantUnchanged(before)
	want(y, "finish of the retry", y.complete(second).Outcome, rota.OutcomeCompleted)
}

func reapOwn(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Hour)
	before := y.dump()
	got := do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOne})
	want(y, "reaped", len(got.Jobs), 0)
	y.wantUnchanged(before)
	want(y, "code of its heartbeat", y.heartbeat(j).Code, "")
}

func reapWithoutIncarnation(y *story) {
	y.running(rota.NewJob{})
	y.advance(time.Hour)
	got := do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta()})
	want(y, "reaped", len(got.Jobs), 1)
}

func reapRunWithoutIncarnation(y *story) {
	for _, incarnation := range []rota.ID{{}, incarnationOne} {
		y.enqueue(rota.NewJob{MaxRetries: ptr(0)})
		c := y.claimCommand(1)
		c.Incarnation = rota.ID{}
		do[*rota.Claimed](y, c)
		y.advance(time.Hour)
		got := do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnation})
		want(y, "reaped", len(got.Jobs), 1)
	}
}

func reapCancelled(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	y.advance(time.Hour)
	want(y, "settlement", y.reap().Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunExpired, Outcome: rota.OutcomeCancelled, Sequel: rota.SequelNone,
	})
}

func reapDead(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.advance(time.Hour)
	want(y, "settlement", y.reap().Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunExpired, Outcome: rota.OutcomeFailed, Sequel: rota.SequelDead,
	})
}

// reapPastHealthy puts a stale run behind runs that must not be reaped: some healthy, some
// stale but the reaper's own.
func reapPastHealthy(y *story) {
	var own []*rota.Job
	for range 3 {
		own = append(own, y.claimAs("w2", incarnationOther))
	}
	y.enqueueMany(5)
	jobs := y.claim(5)
	y.advance(time.Hour)
	for _, j := range jobs[:4] {
		y.heartbeat(j)
	}
	first := do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOther, Limit: 1})
	want(y, "reaped", len(first.Jobs), 1)
	want(y, "the stale one", first.Jobs[0].JobID, jobs[4].ID)
	want(y, "more", first.More, false)
	want(y, "reaped after it", len(y.reap().Jobs), 0)
	for _, j := range append(own, jobs[:4]...) {
		want(y, "left open", y.job(j.ID).Run.Open(), true)
	}
}

func reapPages(y *story) {
	y.enqueueMany(5)
	var jobs []*rota.Job
	for range 5 {
		jobs = append(jobs, y.claimOne())
		y.advance(time.Second)
	}
	y.heartbeat(jobs[0])
	y.advance(time.Hour)
	order := []*rota.Job{jobs[1], jobs[2], jobs[3], jobs[4], jobs[0]}
	for page := range 3 {
		got := do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOther, Limit: 2})
		want(y, "more", got.More, page < 2)
		for _, s := range got.Jobs {
			want(y, "reaped", s.JobID, order[0].ID)
			order = order[1:]
		}
	}
	want(y, "left over", len(order), 0)
}

// reapSameName has two incarnations of one name, of which only the later sends heartbeats. The
// later one and other processes alike must reap the former.
func reapSameName(y *story) {
	for _, reaper := range []rota.ID{incarnationTwo, incarnationOther} {
		former := y.claimAs("w1", incarnationOne)
		again := y.claimAs("w1", incarnationTwo)
		y.advance(time.Hour)
		y.heartbeat(again)
		got := do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: reaper}).Jobs
		if len(got) != 1 || got[0].JobID != former.ID {
			y.Fatalf("reaped %v, want job %s of the former incarnation", got, former.ID)
		}
		want(y, "of the later", y.complete(again).Outcome, rota.OutcomeCompleted)
	}
}

func reapLeaseTooLong(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(-3 * time.Hour)
	got := y.reap()
	want(y, "settlement", got.Jobs[0], rota.Settlement{JobID: j.ID, Act: rota.SettledLeasePull})
	row := y.job(j.ID)
	want(y, "open", row.Run.Open(), true)
	wantTime(y, "stale after", row.Run.StaleAfter, y.now.Add(rota.LeaseMax))
	want(y, "shortened again", len(y.reap().Jobs), 0)
	want(y, "code of a heartbeat", y.heartbeat(j).Code, "")
}

func reapOwnLeaseTooLong(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(-3 * time.Hour)
	got := do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOne})
	want(y, "shortened", len(got.Jobs), 1)
	wantTime(y, "stale after", y.job(j.ID).Run.StaleAfter, y.now.Add(rota.LeaseMax))
}

func reapWithoutTimeout(y *story) {
	j := y.running(rota.NewJob{Timeout: ptr(time.Duration(0))})
	for range 100 {
		y.advance(lease)
		want(y, "heartbeat", y.heartbeat(j).Code, "")
		want(y, "reaped", len(y.reap().Jobs), 0)
	}
}

// grace is how long remote workers of these stories may continue.
const grace = 10 * time.Second

// runningRemotely enqueues a job and claims it as a remote worker does.
func (y *story) runningRemotely(n rota.NewJob) *rota.Job {
	y.Helper()
	y.enqueue(n)
	c := y.claimCommand(1)
	c.Incarnation = rota.ID{}
	return do[*rota.Claimed](y, c).Jobs[0]
}

// extendWithin extends the lease of a remote worker, with the grace.
func (y *story) extendWithin(j *rota.Job) rota.LeaseAnswer {
	y.Helper()
	c := &rota.Extend{Meta: y.ids.meta(), Lease: lease, Grace: grace, Items: []rota.ExtendItem{{LeaseRef: leaseOf(j)}}}
	return do[*rota.Extended](y, c).Items[0]
}

// finishWithin finishes the run of a remote worker that completed some time ago, with the grace.
func (y *story) finishWithin(j *rota.Job, ago time.Duration) rota.FinishAnswer {
	y.Helper()
	c := y.finishCommand(j, rota.OutcomeCompleted, false)
	c.Grace, c.Items[0].EndedAgo = grace, ago
	return do[*rota.Finished](y, c).Items[0]
}

// reapWithin reaps with the grace.
func (y *story) reapWithin() *rota.Reaped {
	y.Helper()
	return do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOther, Grace: grace})
}

func reapRemoteCancelled(y *story) {
	j := y.runningRemotely(rota.NewJob{})
	y.cancel(j.ID)
	y.advance(grace)
	want(y, "asked to stop", y.extendWithin(j).Cancel, true)
	want(y, "reaped within the grace", len(y.reapWithin().Jobs), 0)
	y.advance(time.Microsecond)
	want(y, "code of a heartbeat", y.extendWithin(j).Code, rota.LeaseLost)
	want(y, "code of a finish before the reap", y.finishWithin(j, 0).Code, rota.LeaseLost)
	want(y, "settlement", y.reapWithin().Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunStopped, Outcome: rota.OutcomeCancelled, Sequel: rota.SequelNone,
	})
	run := y.job(j.ID).Run
	want(y, "error code", run.ErrorCode, rota.CodeCancelled)
	want(y, "error", run.Error, "cancelled; worker w1 did not stop within 10s")
	want(y, "code of a heartbeat after the end", y.extendWithin(j).Code, rota.LeaseLost)
	want(y, "code of a finish", do[*rota.Finished](y, y.finishCommand(j, rota.OutcomeCompleted, false)).Items[0].Code, rota.LeaseLost)
	want(y, "code of a finish with the same outcome", y.finishAs(j, rota.OutcomeCancelled, "").Code, rota.LeaseLost)
}

func reapRemoteTimedOut(y *story) {
	j := y.runningRemotely(rota.NewJob{Timeout: ptr(time.Minute)})
	for range 6 {
		y.advance(10 * time.Second)
		want(y, "code of a heartbeat", y.extendWithin(j).Code, "")
	}
	y.advance(grace)
	want(y, "overdue", y.extendWithin(j).Overdue, true)
	want(y, "reaped within the grace", len(y.reapWithin().Jobs), 0)
	y.advance(time.Microsecond)
	want(y, "code of a heartbeat", y.extendWithin(j).Code, rota.LeaseLost)
	got := y.reapWithin().Jobs[0]
	want(y, "settlement", got, rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunStopped, Outcome: rota.OutcomeCancelled, Sequel: rota.SequelRetry, RetryID: got.RetryID,
	})
	run := y.job(j.ID).Run
	want(y, "error code", run.ErrorCode, rota.CodeTimeout)
	want(y, "error", run.Error, "timed out after 1m0s; worker w1 did not stop within 10s")
	want(y, "retry of", y.job(got.RetryID).RetryOf, j.ID)
	want(y, "code of a finish with the same outcome", y.finishAs(j, rota.OutcomeCancelled, rota.CodeTimeout).Code, rota.LeaseLost)
}

func reapKeepStale(y *story) {
	stale, stopping := y.running(rota.NewJob{}), y.runningRemotely(rota.NewJob{})
	y.cancel(stopping.ID)
	y.advance(lease + grace)
	reap := &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOther, Grace: grace, KeepStale: true}
	got := do[*rota.Reaped](y, reap).Jobs
	want(y, "reaped", len(got), 1)
	want(y, "reaped job", got[0].JobID, stopping.ID)
	want(y, "job with a stale lease", y.job(stale.ID).Ended(), false)
	want(y, "reaped later", y.reapWithin().Jobs[0].JobID, stale.ID)
}

// finishAs finishes the run of a remote worker, with the grace.
func (y *story) finishAs(j *rota.Job, outcome rota.Outcome, code string) rota.FinishAnswer {
	y.Helper()
	c := y.finishCommand(j, outcome, false)
	c.Grace, c.Items[0].ErrorCode = grace, code
	return do[*rota.Finished](y, c).Items[0]
}

func finishRemoteInTime(y *story) {
	j := y.runningRemotely(rota.NewJob{})
	y.cancel(j.ID)
	y.advance(grace)
	want(y, "code", y.finishAs(j, rota.OutcomeCancelled, "").Code, "")
	y.advance(time.Hour)
	want(y, "code of a finish that is sent again", y.finishAs(j, rota.OutcomeCancelled, "").Code, "")
}

func finishRemoteLate(y *story) {
	j := y.runningRemotely(rota.NewJob{Timeout: ptr(time.Minute)})
	y.advance(time.Minute + grace + time.Second)
	want(y, "code of a run that ended after the grace", y.finishWithin(j, time.Second-time.Microsecond).Code, rota.LeaseLost)
	want(y, "code of a run that ended within the grace", y.finishWithin(j, time.Second).Code, "")
	want(y, "state", y.job(j.ID).State(), rota.StateCompleted)
}

func reapLocalOverdue(y *story) {
	j := y.running(rota.NewJob{Timeout: ptr(time.Second)})
	y.cancel(j.ID)
	for range 10 {
		y.advance(lease)
		want(y, "code of a heartbeat", y.extendWithin(j).Code, "")
		want(y, "reaped", len(y.reapWithin().Jobs), 0)
	}
}
