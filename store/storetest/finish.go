package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

func testFinish(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a completed run keeps its results", finishCompleted},
		{"a skipped run has no sequel", finishSkipped},
		{"an outcome is written once", finishOnce},
		{"the same outcome sent again is answered as before and changes nothing", finishSameAgain},
		{"a wrong lease changes nothing and is answered with lease lost", finishWrongLease},
		{"a run cannot be finished with the token of another run", finishOtherToken},
		{"a lost lease does not affect the other runs of the command", finishOneLost},
		{"an error text that is too long is cut between two characters", finishLongError},
		{"an error text of maximum length is kept whole", finishFittingError},
		{"a failure after a cancel is recorded as cancelled and not retried", finishCancelledFailure},
		{"a run that completes after a cancel is recorded as completed", finishCompletedAnyway},
		{"a run that reports cancelled without a cancel is not retried", finishOwnCancel},
		{"a run whose end is recorded late ended when its handler did", finishLate},
		{"the time that a command waits for the store is no part of the run", finishWaited},
		{"what follows from a late end counts from now", finishLateRetry},
		{"a run does not end before it started", finishBeforeStart},
		{"a run does not end in the future if the clock was set back", finishClockSetBack},
		{"a run with a stale lease that was not reaped can be finished", finishStale},
	})
}

func finishCompleted(y *story) {
	j := y.running(rota.NewJob{})
	y.note(j, rota.NoteItem{Artifacts: []string{"a"}})
	y.advance(time.Second)
	a := y.mustFinish(j, rota.FinishItem{
		Outcome: rota.OutcomeCompleted, ExitCode: ptr(0), RowsAffected: ptr(int64(7)), Result: json.RawMessage(`{"n":7}`),
		Artifacts: []string{"b", "a"}, LogPath: "log", Error: "a warning", ErrorCode: "soft",
	})
	wantFinish(y, "answer", a, rota.FinishAnswer{RunID: j.Run.ID, Outcome: rota.OutcomeCompleted, Sequel: rota.SequelNone})
	row := y.job(j.ID)
	want(y, "status", row.Status, rota.StatusRunning)
	want(y, "state", row.State(), rota.StateCompleted)
	want(y, "sequel", row.Sequel, rota.SequelNone)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	r := row.Run
	wantTime(y, "run finished at", r.FinishedAt, y.now)
	want(y, "exit code", *r.ExitCode, 0)
	want(y, "rows affected", *r.RowsAffected, 7)
	want(y, "result", string(r.Result), `{"n":7}`)
	want(y, "artifacts", fmt.Sprint(r.Artifacts), "[a b]")
	want(y, "log", r.LogPath, "log")
	want(y, "error", r.Error+" "+r.ErrorCode, "a warning soft")
}

func finishLate(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(10 * time.Minute)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted, EndedAgo: 4*time.Minute + 1500*time.Nanosecond})
	row, ended := y.job(j.ID), y.now.Add(-4*time.Minute-1500*time.Nanosecond).Truncate(time.Microsecond)
	wantTime(y, "finished at", row.FinishedAt, ended)
	wantTime(y, "run finished at", row.Run.FinishedAt, ended)
}

// finishWaited sends a Finish that has waited four minutes, for instance for a connection. Only
// the store knows when it reads its clock.
func finishWaited(y *story) {
	y.now = time.Now().UTC().Add(-time.Hour).Truncate(time.Microsecond)
	alone, inAll := y.running(rota.NewJob{}), y.running(rota.NewJob{})
	before := time.Now()
	sent := before.Add(-4 * time.Minute)
	finish := func(j *rota.Job) *rota.Finish {
		it := rota.FinishItem{LeaseRef: leaseOf(j), Outcome: rota.OutcomeCompleted, EndedAgo: time.Minute}
		return &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{it}, Sent: sent}
	}
	apply[*rota.Finished](y, time.Time{}, finish(alone))
	apply[*rota.AllDone](y, time.Time{}, &rota.All{Meta: y.ids.meta(), Members: []rota.Command{finish(inAll)}})
	for _, j := range []*rota.Job{alone, inAll} {
		row := y.job(j.ID)
		if off := row.FinishedAt.Sub(before.Add(-5 * time.Minute)); off < -30*time.Second || off > 30*time.Second {
			y.Errorf("finished at %s, %s from the end of its handler", row.FinishedAt, off)
		}
		wantTime(y, "run finished at", row.Run.FinishedAt, row.FinishedAt)
	}
}

func finishLateRetry(y *story) {
	j := y.running(rota.NewJob{MaxRetries: new(1), Backoff: new(time.Minute), Jitter: new(0.0)})
	y.advance(10 * time.Minute)
	answer := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, EndedAgo: 4 * time.Minute})
	wantTime(y, "finished at", y.job(j.ID).FinishedAt, y.now.Add(-4*time.Minute))
	retry := y.job(answer.RetryID)
	wantTime(y, "retry at", retry.RunAt, y.now.Add(time.Minute))
	wantTime(y, "retry created at", retry.CreatedAt, y.now)
}

func finishBeforeStart(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Minute)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted, EndedAgo: time.Hour})
	row := y.job(j.ID)
	wantTime(y, "finished at", row.FinishedAt, row.StartedAt)
}

func finishClockSetBack(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(-time.Minute)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted, EndedAgo: time.Second})
	wantTime(y, "finished at", y.job(j.ID).FinishedAt, y.now)
}

func finishSkipped(y *story) {
	a := y.mustFinish(y.running(rota.NewJob{}), rota.FinishItem{Outcome: rota.OutcomeSkipped})
	want(y, "outcome", a.Outcome, rota.OutcomeSkipped)
	want(y, "sequel", a.Sequel, rota.SequelNone)
}

func finishOnce(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.advance(time.Second)
	before := y.dump()
	for _, other := range []rota.Outcome{rota.OutcomeFailed, rota.OutcomeSkipped, rota.OutcomeCancelled} {
		a := y.finish(j, rota.FinishItem{Outcome: other})
		wantFinish(y, "answer", a, rota.FinishAnswer{RunID: j.Run.ID, Code: rota.LeaseLost})
	}
	y.wantUnchanged(before)
}

func finishSameAgain(y *story) {
	j := y.running(rota.NewJob{})
	first := y.fail(j)
	y.advance(time.Hour)
	before := y.dump()
	again := y.finish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "other words", Artifacts: []string{"x"}, Permanent: true})
	wantFinish(y, "answer", again, first)
	y.wantUnchanged(before)
}

func finishWrongLease(y *story) {
	j := y.running(rota.NewJob{})
	before := y.dump()
	for what, ref := range wrongLeases(y, j) {
		it := rota.FinishItem{LeaseRef: ref, Outcome: rota.OutcomeCompleted}
		a := do[*rota.Finished](y, &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{it}}).Items[0]
		wantFinish(y, "answer to a foreign "+what, a, rota.FinishAnswer{RunID: ref.RunID, Code: rota.LeaseLost})
	}
	y.wantUnchanged(before)
}

func finishOtherToken(y *story) {
	y.enqueueMany(2)
	jobs := y.claim(2)
	crossed := leaseOf(jobs[0])
	crossed.Token = jobs[1].Run.Token
	before := y.dump()
	it := rota.FinishItem{LeaseRef: crossed, Outcome: rota.OutcomeCompleted}
	a := do[*rota.Finished](y, &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{it}}).Items[0]
	want(y, "code", a.Code, rota.LeaseLost)
	y.wantUnchanged(before)
}

func finishOneLost(y *story) {
	y.enqueueMany(3)
	jobs := y.claim(3)
	c := &rota.Finish{Meta: y.ids.meta()}
	for _, j := range jobs {
		c.Items = append(c.Items, rota.FinishItem{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed})
	}
	c.Items[1].Token[0] ^= 1
	items := do[*rota.Finished](y, c).Items
	want(y, "first", items[0].RetryID, rota.RetryID(c.ID, jobs[0].ID))
	want(y, "second", items[1].Code, rota.LeaseLost)
	want(y, "third", items[2].RetryID, rota.RetryID(c.ID, jobs[2].ID))
	want(y, "the second run is open", y.job(jobs[1].ID).Run.Open(), true)
	want(y, "positions of the retries", y.job(items[2].RetryID).Position-y.job(items[0].RetryID).Position, 100)
}

func finishLongError(y *story) {
	for shift := range 3 {
		long := strings.Repeat("x", shift) + strings.Repeat("€", rota.ErrorMax/3+10)
		j := y.running(rota.NewJob{})
		y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted, Error: long})
		got := y.job(j.ID).Run.Error
		text, marked := strings.CutSuffix(got, "… (cut)")
		want(y, "marked as cut", marked, true)
		want(y, "valid text", utf8.ValidString(got), true)
		want(y, "a prefix of what was sent", strings.HasPrefix(long, text), true)
		if len(got) > rota.ErrorMax || len(got) < rota.ErrorMax-3 {
			y.Errorf("%d bytes are kept of a possible %d", len(got), rota.ErrorMax)
		}
	}
}

func finishFittingError(y *story) {
	j := y.running(rota.NewJob{})
	fits := strings.Repeat("x", rota.ErrorMax)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted, Error: fits})
	want(y, "kept whole", y.job(j.ID).Run.Error == fits, true)
}

func finishCancelledFailure(y *story) {
	for _, reported := range []rota.Outcome{rota.OutcomeFailed, rota.OutcomeCancelled, rota.OutcomeSkipped} {
		j := y.running(rota.NewJob{})
		y.cancel(j.ID)
		a := y.mustFinish(j, rota.FinishItem{Outcome: reported})
		wantFinish(y, "answer", a, rota.FinishAnswer{RunID: j.Run.ID, Outcome: rota.OutcomeCancelled, Sequel: rota.SequelNone})
		want(y, "error code", y.job(j.ID).Run.ErrorCode, rota.CodeCancelled)
		wantFinish(y, "sent again", y.finish(j, rota.FinishItem{Outcome: reported}), a)
	}
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout})
	want(y, "sequel of a timeout after a cancel", a.Sequel, rota.SequelNone)
	want(y, "its code", y.job(j.ID).Run.ErrorCode, rota.CodeCancelled)
}

func finishCompletedAnyway(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	want(y, "outcome", y.complete(j).Outcome, rota.OutcomeCompleted)
	want(y, "error code", y.job(j.ID).Run.ErrorCode, "")
}

func finishOwnCancel(y *story) {
	j := y.running(rota.NewJob{})
	a := y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled})
	want(y, "sequel", a.Sequel, rota.SequelNone)
	want(y, "error code", y.job(j.ID).Run.ErrorCode, "")
}

func finishStale(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(10 * time.Hour)
	want(y, "outcome", y.complete(j).Outcome, rota.OutcomeCompleted)
	want(y, "reaped afterwards", len(y.reap().Jobs), 0)
}
