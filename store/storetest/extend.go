package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testExtend(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a heartbeat extends the lease", heartbeatExtends},
		{"a heartbeat may update progress, and without progress keeps it", heartbeatProgress},
		{"a stale lease that was not reaped is still valid", heartbeatStale},
		{"a wrong lease changes nothing and is answered with lease lost", heartbeatWrongLease},
		{"a heartbeat of an ended run is answered with lease lost", heartbeatEnded},
		{"a lost lease does not affect the other leases of the command", heartbeatOneLost},
		{"a heartbeat reports a cancel", heartbeatCancel},
		{"a heartbeat reports a run past its timeout", heartbeatOverdue},
	})
}

func heartbeatExtends(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(10 * time.Second)
	a := y.heartbeat(j)
	want(y, "answer", a.RunID, j.Run.ID)
	want(y, "code", a.Code, "")
	want(y, "cancel", a.Cancel, false)
	wantTime(y, "stale after", a.StaleAfter, y.now.Add(lease))
	r := y.job(j.ID).Run
	wantTime(y, "heartbeat at", r.HeartbeatAt, y.now)
	wantTime(y, "stored stale after", r.StaleAfter, a.StaleAfter)
	wantTime(y, "started at", r.StartedAt, j.Run.StartedAt)
}

func heartbeatProgress(y *story) {
	j := y.running(rota.NewJob{})
	with := rota.ExtendItem{LeaseRef: leaseOf(j), Progress: json.RawMessage(`{"done":3}`)}
	do[*rota.Extended](y, &rota.Extend{Meta: y.ids.meta(), Lease: lease, Items: []rota.ExtendItem{with}})
	want(y, "progress", string(y.job(j.ID).Run.Progress), `{"done":3}`)
	y.heartbeat(j)
	want(y, "progress after a heartbeat without progress", string(y.job(j.ID).Run.Progress), `{"done":3}`)
}

func heartbeatStale(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Hour)
	want(y, "code", y.heartbeat(j).Code, "")
	want(y, "reaped", len(y.reap().Jobs), 0)
	want(y, "finish", y.complete(j).Outcome, rota.OutcomeCompleted)
}

// wrongLeases returns leases of a job that are each wrong in one part.
func wrongLeases(y *story, j *rota.Job) map[string]rota.LeaseRef {
	ref := leaseOf(j)
	token, run, job := ref, ref, ref
	token.Token[0] ^= 1
	run.RunID = y.ids.next()
	job.JobID = y.ids.next()
	return map[string]rota.LeaseRef{"token": token, "run": run, "job": job}
}

func heartbeatWrongLease(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Second)
	before := y.dump()
	for what, ref := range wrongLeases(y, j) {
		it := rota.ExtendItem{LeaseRef: ref, Progress: json.RawMessage("1")}
		a := do[*rota.Extended](y, &rota.Extend{Meta: y.ids.meta(), Lease: lease, Items: []rota.ExtendItem{it}}).Items[0]
		wantLease(y, "answer to a foreign "+what, a, rota.LeaseAnswer{RunID: ref.RunID, Code: rota.LeaseLost})
	}
	y.wantUnchanged(before)
}

func heartbeatEnded(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.advance(time.Second)
	before := y.dump()
	wantLease(y, "answer", y.heartbeat(j), rota.LeaseAnswer{RunID: j.Run.ID, Code: rota.LeaseLost})
	y.wantUnchanged(before)
}

func heartbeatOneLost(y *story) {
	y.enqueueMany(3)
	jobs := y.claim(3)
	y.complete(jobs[1])
	y.advance(time.Second)
	c := &rota.Extend{Meta: y.ids.meta(), Lease: time.Minute}
	for _, j := range jobs {
		c.Items = append(c.Items, rota.ExtendItem{LeaseRef: leaseOf(j)})
	}
	items := do[*rota.Extended](y, c).Items
	for i, code := range []rota.Code{"", rota.LeaseLost, ""} {
		want(y, "run", items[i].RunID, jobs[i].Run.ID)
		want(y, "code", items[i].Code, code)
	}
	wantTime(y, "the last lease", y.job(jobs[2].ID).Run.StaleAfter, y.now.Add(time.Minute))
}

func heartbeatCancel(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	a := y.heartbeat(j)
	want(y, "cancel", a.Cancel, true)
	want(y, "reason", a.Reason, "not needed")
	want(y, "code", a.Code, "")
	wantTime(y, "stale after", a.StaleAfter, y.now.Add(lease))
}

func heartbeatOverdue(y *story) {
	j := y.running(rota.NewJob{Timeout: ptr(time.Minute)})
	free := y.running(rota.NewJob{Timeout: ptr(time.Duration(0))})
	y.advance(time.Minute - time.Microsecond)
	want(y, "before its time", y.heartbeat(j).Overdue, false)
	y.advance(time.Microsecond)
	want(y, "when it has passed", y.heartbeat(j).Overdue, true)
	want(y, "in the answer to a note", y.note(j, rota.NoteItem{Progress: json.RawMessage(`1`)}).Overdue, false)
	y.advance(time.Hour)
	want(y, "long after", y.heartbeat(j).Overdue, true)
	want(y, "code", y.heartbeat(j).Code, "")
	want(y, "without an end", y.heartbeat(free).Overdue, false)
	y.advance(-2 * time.Hour)
	want(y, "by a clock that was set back", y.heartbeat(j).Overdue, false)
}
