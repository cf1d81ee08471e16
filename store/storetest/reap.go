package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testReap(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"a stale run is failed and retried", reapStale},
		{"a lease that has not gone stale is left alone", reapHealthy},
		{"a reaper that meets a run just completed does nothing", reapCompleted},
		{"the former holder cannot write after the reap", reapFormerHolder},
		{"a run finishing after being reaped has lost its lease and its retry is untouched", reapThenFinish},
		{"a process never reaps its own live runs", reapOwn},
		{"a reaper without a life of its own reaps every stale run", reapWithoutLife},
		{"a worker without a life is reaped by everybody", reapLifeless},
		{"a run that was asked to stop is cancelled and not retried", reapCancelled},
		{"a run with its attempts used up is dead", reapDead},
		{"a reaper looks beyond a first page of runs that it leaves alone", reapPastHealthy},
		{"stale runs are reaped in the order they went stale, page by page", reapPages},
		{"a name that lives again does not keep its former life from being reaped", reapNamesake},
		{"a lease too far ahead of a clock set back is pulled in", reapPull},
		{"even one's own lease too far ahead is pulled in", reapPullOwn},
		{"a healthy run without a time-out is not reaped", reapWithoutTimeout},
	})
}

func reapStale(y *story) {
	j := y.running(rota.NewJob{Params: []byte(`{"a":1}`)})
	y.pass(lease + time.Microsecond)
	c := &rota.Reap{Meta: y.mint.meta(), Incarnation: lifeOther}
	got := do[*rota.Reaped](y, c)
	want(y, "reaped", len(got.Jobs), 1)
	retry := rota.RetryID(c.ID, j.ID)
	want(y, "settlement", got.Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunExpired, Outcome: rota.OutcomeFailed, Sequel: rota.SequelRetry, RetryID: retry,
	})
	row := y.look(j.ID)
	want(y, "error code", row.Run.ErrorCode, rota.CodeLeaseExpired)
	wantTime(y, "run finished at", row.Run.FinishedAt, y.now)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	want(y, "sequel", row.Sequel, rota.SequelRetry)
	r := y.look(retry)
	want(y, "attempt", r.Attempt, 2)
	want(y, "retry of", r.RetryOf, j.ID)
	want(y, "params", string(r.Params), `{"a":1}`)
	wantTime(y, "run at", r.RunAt, y.now.Add(time.Minute))
	y.audited()
}

func reapHealthy(y *story) {
	y.running(rota.NewJob{})
	y.pass(lease)
	before := y.dump()
	want(y, "reaped", len(y.reap().Jobs), 0)
	y.unchanged(before)
}

func reapCompleted(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(time.Hour)
	y.complete(j)
	before := y.dump()
	want(y, "reaped", len(y.reap().Jobs), 0)
	y.unchanged(before)
}

func reapFormerHolder(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(time.Hour)
	y.reap()
	before := y.dump()
	want(y, "heartbeat", y.beat(j).Code, rota.LeaseLost)
	for _, o := range []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeCancelled, rota.OutcomeSkipped} {
		want(y, "finish as "+string(o), y.end(j, rota.FinishItem{Outcome: o}).Code, rota.LeaseLost)
	}
	y.unchanged(before)
	y.note(j, rota.NoteItem{Progress: []byte(`1`), LogPath: "log"})
	y.unchanged(before)
}

func reapThenFinish(y *story) {
	j := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
	y.pass(time.Hour)
	retry := y.reap().Jobs[0].RetryID
	second := y.claimOne()
	want(y, "the retry runs", second.ID, retry)
	before := y.dump()
	want(y, "late finish", y.end(j, rota.FinishItem{Outcome: rota.OutcomeFailed}).Code, rota.LeaseLost)
	y.unchanged(before)
	want(y, "finish of the retry", y.complete(second).Outcome, rota.OutcomeCompleted)
}

func reapOwn(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(time.Hour)
	before := y.dump()
	got := do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta(), Incarnation: lifeOne})
	want(y, "reaped", len(got.Jobs), 0)
	y.unchanged(before)
	want(y, "its heart beats on", y.beat(j).Code, "")
}

func reapWithoutLife(y *story) {
	y.running(rota.NewJob{})
	y.pass(time.Hour)
	got := do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta()})
	want(y, "reaped", len(got.Jobs), 1)
}

func reapLifeless(y *story) {
	for _, incarnation := range []rota.ID{{}, lifeOne} {
		y.enqueue(rota.NewJob{MaxRetries: ptr(0)})
		c := y.claimCommand(1)
		c.Incarnation = rota.ID{}
		do[*rota.Claimed](y, c)
		y.pass(time.Hour)
		got := do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta(), Incarnation: incarnation})
		want(y, "reaped", len(got.Jobs), 1)
	}
}

func reapCancelled(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	y.pass(time.Hour)
	want(y, "settlement", y.reap().Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunExpired, Outcome: rota.OutcomeCancelled, Sequel: rota.SequelNone,
	})
}

func reapDead(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.pass(time.Hour)
	want(y, "settlement", y.reap().Jobs[0], rota.Settlement{
		JobID: j.ID, Act: rota.SettledRunExpired, Outcome: rota.OutcomeFailed, Sequel: rota.SequelDead,
	})
}

// reapPastHealthy puts a stale run behind runs that must be left alone: some
// healthy, some stale but the reaper's own.
func reapPastHealthy(y *story) {
	var own []*rota.Job
	for range 3 {
		own = append(own, y.claimAs("w2", lifeOther))
	}
	y.enqueueMany(5)
	jobs := y.claim(5)
	y.pass(time.Hour)
	for _, j := range jobs[:4] {
		y.beat(j)
	}
	first := do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta(), Incarnation: lifeOther, Limit: 1})
	want(y, "reaped", len(first.Jobs), 1)
	want(y, "the stale one", first.Jobs[0].JobID, jobs[4].ID)
	want(y, "more", first.More, false)
	want(y, "reaped after it", len(y.reap().Jobs), 0)
	for _, j := range append(own, jobs[:4]...) {
		want(y, "left open", y.look(j.ID).Run.Open(), true)
	}
}

func reapPages(y *story) {
	y.enqueueMany(5)
	var jobs []*rota.Job
	for range 5 {
		jobs = append(jobs, y.claimOne())
		y.pass(time.Second)
	}
	y.beat(jobs[0])
	y.pass(time.Hour)
	order := []*rota.Job{jobs[1], jobs[2], jobs[3], jobs[4], jobs[0]}
	for page := range 3 {
		got := do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta(), Incarnation: lifeOther, Limit: 2})
		want(y, "more", got.More, page < 2)
		for _, s := range got.Jobs {
			want(y, "reaped", s.JobID, order[0].ID)
			order = order[1:]
		}
	}
	want(y, "left over", len(order), 0)
}

// reapNamesake has two lives of one name, of which only the later is heard of. To
// the later and to others alike the former is dead.
func reapNamesake(y *story) {
	for _, reaper := range []rota.ID{lifeTwo, lifeOther} {
		former := y.claimAs("w1", lifeOne)
		again := y.claimAs("w1", lifeTwo)
		y.pass(time.Hour)
		y.beat(again)
		got := do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta(), Incarnation: reaper}).Jobs
		if len(got) != 1 || got[0].JobID != former.ID {
			y.Fatalf("reaped are %v, want job %s of the former life", got, former.ID)
		}
		want(y, "of the later", y.complete(again).Outcome, rota.OutcomeCompleted)
	}
}

func reapPull(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(-3 * time.Hour)
	got := y.reap()
	want(y, "settlement", got.Jobs[0], rota.Settlement{JobID: j.ID, Act: rota.SettledLeasePull})
	row := y.look(j.ID)
	want(y, "open", row.Run.Open(), true)
	wantTime(y, "stale after", row.Run.StaleAfter, y.now.Add(rota.LeaseMax))
	want(y, "pulled again", len(y.reap().Jobs), 0)
	want(y, "the lease holds", y.beat(j).Code, "")
}

func reapPullOwn(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(-3 * time.Hour)
	got := do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta(), Incarnation: lifeOne})
	want(y, "pulled", len(got.Jobs), 1)
	wantTime(y, "stale after", y.look(j.ID).Run.StaleAfter, y.now.Add(rota.LeaseMax))
}

func reapWithoutTimeout(y *story) {
	j := y.running(rota.NewJob{Timeout: ptr(time.Duration(0))})
	for range 100 {
		y.pass(lease)
		want(y, "heartbeat", y.beat(j).Code, "")
		want(y, "reaped", len(y.reap().Jobs), 0)
	}
}
