package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testExtend(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"a heartbeat moves the lease on", beatExtends},
		{"a heartbeat may carry progress, and without any leaves it", beatProgress},
		{"a stale lease that nobody reaped is still good", beatStale},
		{"a foreign token changes nothing and is told the lease is lost", beatForeign},
		{"a run that has ended is told the lease is lost", beatEnded},
		{"a lost lease leaves its neighbours alone", beatNeighbours},
		{"a heartbeat brings the news of a cancel", beatCancel},
		{"a heartbeat says when a run has taken longer than it may", beatOverdue},
	})
}

func beatExtends(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(10 * time.Second)
	a := y.beat(j)
	want(y, "answer", a.RunID, j.Run.ID)
	want(y, "code", a.Code, "")
	want(y, "cancel", a.Cancel, false)
	wantTime(y, "stale after", a.StaleAfter, y.now.Add(lease))
	r := y.look(j.ID).Run
	wantTime(y, "heartbeat at", r.HeartbeatAt, y.now)
	wantTime(y, "stored stale after", r.StaleAfter, a.StaleAfter)
	wantTime(y, "started at", r.StartedAt, j.Run.StartedAt)
}

func beatProgress(y *story) {
	j := y.running(rota.NewJob{})
	with := rota.ExtendItem{LeaseRef: leaseOf(j), Progress: json.RawMessage(`{"done":3}`)}
	do[*rota.Extended](y, &rota.Extend{Meta: y.mint.meta(), Lease: lease, Items: []rota.ExtendItem{with}})
	want(y, "progress", string(y.look(j.ID).Run.Progress), `{"done":3}`)
	y.beat(j)
	want(y, "progress after a plain beat", string(y.look(j.ID).Run.Progress), `{"done":3}`)
}

func beatStale(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(time.Hour)
	want(y, "code", y.beat(j).Code, "")
	want(y, "reaped", len(y.reap().Jobs), 0)
	want(y, "finish", y.complete(j).Outcome, rota.OutcomeCompleted)
}

// strangers are leases of a job that are each wrong in one part.
func strangers(y *story, j *rota.Job) map[string]rota.LeaseRef {
	ref := leaseOf(j)
	token, run, job := ref, ref, ref
	token.Token[0] ^= 1
	run.RunID = y.mint.id()
	job.JobID = y.mint.id()
	return map[string]rota.LeaseRef{"token": token, "run": run, "job": job}
}

func beatForeign(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(time.Second)
	before := y.dump()
	for what, ref := range strangers(y, j) {
		it := rota.ExtendItem{LeaseRef: ref, Progress: json.RawMessage("1")}
		a := do[*rota.Extended](y, &rota.Extend{Meta: y.mint.meta(), Lease: lease, Items: []rota.ExtendItem{it}}).Items[0]
		wantLease(y, "answer to a foreign "+what, a, rota.LeaseAnswer{RunID: ref.RunID, Code: rota.LeaseLost})
	}
	y.unchanged(before)
}

func beatEnded(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.pass(time.Second)
	before := y.dump()
	wantLease(y, "answer", y.beat(j), rota.LeaseAnswer{RunID: j.Run.ID, Code: rota.LeaseLost})
	y.unchanged(before)
}

func beatNeighbours(y *story) {
	y.enqueueMany(3)
	jobs := y.claim(3)
	y.complete(jobs[1])
	y.pass(time.Second)
	c := &rota.Extend{Meta: y.mint.meta(), Lease: time.Minute}
	for _, j := range jobs {
		c.Items = append(c.Items, rota.ExtendItem{LeaseRef: leaseOf(j)})
	}
	items := do[*rota.Extended](y, c).Items
	for i, code := range []rota.Code{"", rota.LeaseLost, ""} {
		want(y, "run", items[i].RunID, jobs[i].Run.ID)
		want(y, "code", items[i].Code, code)
	}
	wantTime(y, "the last lease", y.look(jobs[2].ID).Run.StaleAfter, y.now.Add(time.Minute))
}

func beatCancel(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	a := y.beat(j)
	want(y, "cancel", a.Cancel, true)
	want(y, "reason", a.Reason, "not needed")
	want(y, "code", a.Code, "")
	wantTime(y, "stale after", a.StaleAfter, y.now.Add(lease))
}

func beatOverdue(y *story) {
	j := y.running(rota.NewJob{Timeout: ptr(time.Minute)})
	free := y.running(rota.NewJob{Timeout: ptr(time.Duration(0))})
	y.pass(time.Minute - time.Microsecond)
	want(y, "before its time", y.beat(j).Overdue, false)
	y.pass(time.Microsecond)
	want(y, "when it has passed", y.beat(j).Overdue, true)
	want(y, "in the answer to a note", y.note(j, rota.NoteItem{Progress: json.RawMessage(`1`)}).Overdue, false)
	y.pass(time.Hour)
	want(y, "long after", y.beat(j).Overdue, true)
	want(y, "code", y.beat(j).Code, "")
	want(y, "without an end", y.beat(free).Overdue, false)
	y.pass(-2 * time.Hour)
	want(y, "by a clock that was set back", y.beat(j).Overdue, false)
}
