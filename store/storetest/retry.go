package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testRetry(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a retry is a new job of the same execution", retryIsNewJob},
		{"attempts are counted, and the last failure is a dead letter", retryChain},
		{"a job without retries is dead at once", retryNever},
		{"a permanent failure is not retried", retryPermanent},
		{"a timeout is retried as a failure", retryTimeout},
		{"the backoff doubles with every attempt", retryBackoff},
		{"the backoff is capped", retryCap},
		{"the backoff does not overflow", retryOverflow},
		{"jitter shortens the backoff by a part derived from the retry's id", retryJitter},
		{"a handler may set the retry time", retryAt},
		{"a retry time in the past makes the retry ready at once", retryAtPast},
		{"work cut off by a shutdown is retried at once", retryShutdown},
		{"a shutdown grants no further attempt", retryShutdownExhausted},
		{"a retry is placed at the end of its priority", retryAtEnd},
	})
}

func retryIsNewJob(y *story) {
	j := y.running(rota.NewJob{
		Name: "nightly", Params: json.RawMessage(`{"a":1}`), Priority: new(4), UniqueKey: "k", UniqueFor: time.Hour,
		ScopeKind: "tenant", ScopeID: "1", PlanTime: y.now, Jitter: ptr(0.0), Timeout: ptr(time.Minute),
	})
	y.advance(time.Second)
	c := &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed, Error: "x"}}}
	a := do[*rota.Finished](y, c).Items[0]
	r := y.job(a.RetryID)
	wantTime(y, "answered retry time", a.RetryAt, y.now.Add(time.Minute))
	expected := rota.Job{
		ID: rota.RetryID(c.ID, j.ID), ExecutionID: j.ID, RetryOf: j.ID, Attempt: 2,
		Type: j.Type, Name: j.Name, Params: j.Params, Policy: j.Policy, Priority: 4, Position: 100,
		Status: rota.StatusQueued, Hold: rota.HoldDelay, RunAt: a.RetryAt,
		ScopeKind: "tenant", ScopeID: "1", PlanTime: j.PlanTime, UniqueKey: "k", UniqueFor: time.Hour,
		CreatedBy: "ada", CreatedAt: y.now,
	}
	want(y, "difference of the retry", difference(jobText(&expected), jobText(r)), "")
	old := y.job(j.ID)
	want(y, "sequel", old.Sequel, rota.SequelRetry)
	want(y, "outcome", old.Run.Outcome, rota.OutcomeFailed)
	want(y, "state", old.State(), rota.StateFailed)
}

func retryChain(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(2), Backoff: ptr(time.Duration(0))})
	first := j.ID
	for attempt := 1; attempt <= 2; attempt++ {
		want(y, "attempt", j.Attempt, attempt)
		want(y, "sequel", y.fail(j).Sequel, rota.SequelRetry)
		j = y.claimOne()
	}
	a := y.fail(j)
	want(y, "last sequel", a.Sequel, rota.SequelDead)
	want(y, "retry of the dead", a.RetryID, rota.ID{})
	wantTime(y, "retry time of the dead", a.RetryAt, time.Time{})
	want(y, "left in the queue", len(y.queue()), 0)
	chain, err := y.s.Execution(y.ctx, first)
	if err != nil || len(chain) != 3 {
		y.Fatalf("the execution has %d attempts, %v", len(chain), err)
	}
}

func retryNever(y *story) {
	want(y, "sequel", y.fail(y.running(rota.NewJob{MaxRetries: ptr(0)})).Sequel, rota.SequelDead)
}

func retryPermanent(y *story) {
	j := y.running(rota.NewJob{})
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, Permanent: true, RetryAt: y.now.Add(time.Hour)})
	want(y, "sequel", a.Sequel, rota.SequelDead)
	want(y, "stored sequel", y.job(j.ID).Sequel, rota.SequelDead)
}

func retryTimeout(y *story) {
	j := y.running(rota.NewJob{})
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout})
	want(y, "outcome", a.Outcome, rota.OutcomeCancelled)
	want(y, "sequel", a.Sequel, rota.SequelRetry)
	want(y, "state", y.job(j.ID).State(), rota.StateFailed)
}

// delays fails an execution count times, and returns the delay of each retry.
func (y *story) delays(n rota.NewJob, count int) []time.Duration {
	y.Helper()
	var got []time.Duration
	j := y.running(n)
	for range count {
		at := y.fail(j).RetryAt
		got = append(got, at.Sub(y.now))
		y.now = at
		y.makeReady()
		j = y.claimOne()
	}
	return got
}

func retryBackoff(y *story) {
	for i, d := range y.delays(rota.NewJob{}, 3) {
		want(y, "default delay", d, time.Minute<<i)
	}
	for i, d := range y.delays(rota.NewJob{Backoff: ptr(time.Millisecond), MaxRetries: ptr(10)}, 6) {
		want(y, "delay", d, time.Millisecond<<i)
	}
}

func retryCap(y *story) {
	got := y.delays(rota.NewJob{Backoff: ptr(3 * time.Second), BackoffMax: ptr(10 * time.Second), MaxRetries: ptr(9)}, 4)
	for i, w := range []time.Duration{3 * time.Second, 6 * time.Second, 10 * time.Second, 10 * time.Second} {
		want(y, "delay", got[i], w)
	}
	got = y.delays(rota.NewJob{Backoff: ptr(time.Minute), BackoffMax: ptr(time.Second)}, 1)
	want(y, "delay of a base over its cap", got[0], time.Second)
}

func retryOverflow(y *story) {
	got := y.delays(rota.NewJob{Backoff: ptr(time.Duration(rota.DelayMax) / 3), MaxRetries: ptr(99)}, 4)
	want(y, "second delay", got[1], time.Duration(rota.DelayMax)/3*2)
	want(y, "third delay", got[2], time.Duration(rota.DelayMax))
	want(y, "fourth delay", got[3], time.Duration(rota.DelayMax))
	j := y.running(rota.NewJob{Backoff: ptr(time.Microsecond), BackoffMax: ptr(time.Second), MaxRetries: ptr(100), Priority: new(1)})
	for range 80 {
		y.now = y.fail(j).RetryAt
		y.makeReady()
		j = y.claimOne()
	}
	wantTime(y, "after eighty doublings", y.fail(j).RetryAt, y.now.Add(time.Second))
}

func retryJitter(y *story) {
	j := y.running(rota.NewJob{Backoff: ptr(1000 * time.Second), Jitter: ptr(0.5)})
	a := y.fail(j)
	u := float64(uint32(a.RetryID[12])<<24|uint32(a.RetryID[13])<<16|uint32(a.RetryID[14])<<8|uint32(a.RetryID[15])) / (1 << 32)
	expected := 1000*time.Second - time.Duration(float64(1000*time.Second)*0.5*u)
	if off := a.RetryAt.Sub(y.now) - expected; off > time.Microsecond || off < -time.Microsecond {
		y.Errorf("the delay is %s, want %s", a.RetryAt.Sub(y.now), expected)
	}
	wantTime(y, "whole microseconds", a.RetryAt, a.RetryAt.Truncate(time.Microsecond))
	full := y.fail(y.running(rota.NewJob{Backoff: ptr(time.Second), Jitter: ptr(1.0)})).RetryAt
	if full.Before(y.now) || full.After(y.now.Add(time.Second)) {
		y.Errorf("with full jitter the retry is at %s, %s from now", full, full.Sub(y.now))
	}
}

func retryAt(y *story) {
	j := y.running(rota.NewJob{})
	when := y.now.Add(7 * time.Hour)
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown, RetryAt: when.Add(999)})
	wantTime(y, "answered", a.RetryAt, when)
	r := y.job(a.RetryID)
	wantTime(y, "run at", r.RunAt, when)
	want(y, "hold", r.Hold, rota.HoldDelay)
}

func retryAtPast(y *story) {
	j := y.running(rota.NewJob{})
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, RetryAt: y.now.Add(-time.Hour)})
	r := y.job(a.RetryID)
	want(y, "ready", r.Ready(), true)
	wantTime(y, "run at", r.RunAt, y.now.Add(-time.Hour))
	wantTime(y, "queued at", r.QueuedAt, y.now)
}

func retryShutdown(y *story) {
	j := y.running(rota.NewJob{})
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown})
	wantTime(y, "retry at", a.RetryAt, y.now)
	want(y, "claimed at once", y.claimOne().ID, a.RetryID)
}

func retryShutdownExhausted(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown})
	want(y, "sequel", a.Sequel, rota.SequelDead)
}

func retryAtEnd(y *story) {
	j := y.running(rota.NewJob{Priority: new(2), Backoff: ptr(time.Duration(0))})
	next := y.enqueue(rota.NewJob{Priority: new(2)})
	low := y.enqueue(rota.NewJob{})
	r := y.job(y.fail(j).RetryID)
	wantIDs(y, "the queue", y.queue(), next, r, low)
	want(y, "position", r.Position, next.Position+100)
}
