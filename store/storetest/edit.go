package storetest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testEdit(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"params of a queued job are replaced", editParams},
		{"an edit of the priority moves the job to the end of that priority", editPriority},
		{"an edit to the same priority keeps the position", editSamePriority},
		{"a held job can be edited", editHeld},
		{"an edit with an old version is a conflict", editVersion},
		{"a job that left the queue cannot be edited", editLeft},
		{"the id of an earlier attempt edits the waiting retry", editRetry},
		{"an edit by the id of an earlier attempt is refused while the retry runs", editRunningRetry},
		{"an edit sent again after the job was retried changes nothing", editAgainAfterRetry},
		{"a job that does not exist is not found", editUnknown},
		{"an edit is audited", editAudit},
		{"an edit that changes nothing is not audited", editNothing},
		{"an edit sent again after another one does not undo it", editAgainAfterOther},
		{"an edit sent again after the claim is answered with the running job", editAgainAfterClaim},
	})
}

func (y *story) edit(id rota.ID, change func(*rota.Edit)) *rota.Job {
	y.Helper()
	return do[*rota.Edited](y, y.editCommand(id, change)).Job
}

func (y *story) editCommand(id rota.ID, change func(*rota.Edit)) *rota.Edit {
	c := &rota.Edit{Meta: y.ids.meta(), JobID: id}
	change(c)
	return c
}

func toPriority(p int) func(*rota.Edit) { return func(c *rota.Edit) { c.Priority = &p } }

func toParams(doc string) func(*rota.Edit) {
	return func(c *rota.Edit) { c.Params = json.RawMessage(doc) }
}

func editParams(y *story) {
	j := y.enqueue(rota.NewJob{Params: json.RawMessage(`{"a":1}`)})
	c := y.editCommand(j.ID, toParams(`{"b":2}`))
	got := do[*rota.Edited](y, c).Job
	want(y, "answered params", string(got.Params), `{"b":2}`)
	row := y.job(j.ID)
	want(y, "params", string(row.Params), `{"b":2}`)
	want(y, "version", row.Version, c.ID)
	want(y, "position", row.Position, j.Position)
	want(y, "claimed params", string(y.claimOne().Params), `{"b":2}`)
}

func editPriority(y *story) {
	j := y.enqueue(rota.NewJob{})
	other := y.enqueue(rota.NewJob{})
	high := y.enqueue(rota.NewJob{Priority: new(5)})
	got := y.edit(j.ID, toPriority(5))
	want(y, "priority", got.Priority, 5)
	want(y, "position", got.Position, 200)
	want(y, "params", string(got.Params), "{}")
	wantIDs(y, "the queue", y.queue(), high, j, other)
}

func editSamePriority(y *story) {
	j := y.enqueue(rota.NewJob{Priority: new(5)})
	second := y.enqueue(rota.NewJob{Priority: new(5)})
	want(y, "position", y.edit(j.ID, toPriority(5)).Position, 100)
	wantIDs(y, "the queue", y.queue(), j, second)
}

func editHeld(y *story) {
	j := y.enqueue(rota.NewJob{Delay: time.Hour})
	got := y.edit(j.ID, toPriority(3))
	want(y, "hold", got.Hold, rota.HoldDelay)
	want(y, "priority", got.Priority, 3)
}

func editVersion(y *story) {
	j := y.enqueue(rota.NewJob{})
	at := func(v rota.ID) func(*rota.Edit) {
		return func(c *rota.Edit) { c.Version, c.Params = &v, json.RawMessage(`{"v":1}`) }
	}
	y.refused(rota.Conflict, y.editCommand(j.ID, at(y.ids.next())))
	first := y.edit(j.ID, at(rota.ID{}))
	y.refused(rota.Conflict, y.editCommand(j.ID, at(rota.ID{})))
	y.edit(j.ID, at(first.Version))
}

func editLeft(y *story) {
	cancelled := y.enqueue(rota.NewJob{})
	y.cancel(cancelled.ID)
	running := y.running(rota.NewJob{})
	for _, j := range []*rota.Job{cancelled, running} {
		y.refused(rota.Conflict, y.editCommand(j.ID, toPriority(1)))
		y.refused(rota.Conflict, y.editCommand(j.ID, toParams(`{"a":1}`)))
	}
}

func editRetry(y *story) {
	first := y.running(rota.NewJob{MaxRetries: new(2), Params: json.RawMessage(`{"a":1}`)})
	retry := y.fail(first).RetryID
	written := y.writtenAudit()
	c := y.editCommand(first.ID, toPriority(7))
	c.MergeParams = json.RawMessage(`{"b":2}`)
	got := do[*rota.Edited](y, c).Job
	want(y, "job", got.ID, retry)
	want(y, "priority", got.Priority, 7)
	want(y, "params", string(got.Params), `{"a":1,"b":2}`)
	want(y, "params of the first attempt", string(y.job(first.ID).Params), `{"a":1}`)
	y.wantAuditSince(written, rota.AuditEntry{
		ID: rota.AuditID(c.ID, c.Verb(), first.ID), At: y.now, Actor: c.Actor, Act: rota.AuditJobModified, JobID: retry, Detail: "edit",
	})
	want(y, "ready", y.edit(first.ID, toDelay(0)).Ready(), true)
	third := y.fail(y.claimOne()).RetryID
	want(y, "job after the second failure", y.edit(retry, toDelay(time.Hour)).ID, third)

	old := y.editCommand(first.ID, toPriority(1))
	old.Version = &first.Version
	y.wantField(rota.Conflict, "version", old)
	y.wantNoViolations()
}

func editRunningRetry(y *story) {
	first := y.running(rota.NewJob{MaxRetries: new(1)})
	y.fail(first)
	y.edit(first.ID, toDelay(0))
	running := y.claimOne()
	refusal := y.wantField(rota.Conflict, "job_id", y.editCommand(first.ID, toPriority(1)))
	want(y, "names the retry", strings.Contains(refusal.Reason, running.ID.String()), true)
	y.failPermanently(running)
	y.wantField(rota.Conflict, "job_id", y.editCommand(first.ID, toPriority(1)))
}

// editAgainAfterRetry also sends an edit again that changed nothing, which only the version of
// the job that it names shows.
func editAgainAfterRetry(y *story) {
	j := y.enqueue(rota.NewJob{MaxRetries: new(1)})
	changed, unchanged := y.editCommand(j.ID, toPriority(3)), y.editCommand(j.ID, toDelay(0))
	do[*rota.Edited](y, changed)
	do[*rota.Edited](y, unchanged)
	retry := y.job(y.fail(y.claimOne()).RetryID)
	before := y.dump()
	for _, c := range []*rota.Edit{changed, unchanged} {
		want(y, "job", do[*rota.Edited](y, c).Job.ID, retry.ID)
		y.wantUnchanged(before)
	}
	y.wantHold(retry, rota.HoldDelay)
}

func editUnknown(y *story) {
	y.refused(rota.NotFound, y.editCommand(y.ids.next(), toPriority(1)))
}

func editAudit(y *story) {
	j := y.enqueue(rota.NewJob{})
	c := y.editCommand(j.ID, toPriority(1))
	y.advance(time.Second)
	do[*rota.Edited](y, c)
	y.wantAudit(rota.AuditEntry{ID: rota.AuditID(c.ID, c.Verb(), j.ID), At: y.now, Actor: "ada", Act: rota.AuditJobModified, JobID: j.ID, Detail: "edit"})
}

func editNothing(y *story) {
	j := y.enqueue(rota.NewJob{Priority: new(2), Params: []byte(`{"a":1}`), Delay: time.Hour})
	written := y.writtenAudit()
	for name, change := range map[string]func(*rota.Edit){
		"priority": toPriority(2), "params": toParams(`{ "a": 1 }`),
		"one param":  func(c *rota.Edit) { c.MergeParams = []byte(`{"a":1}`) },
		"start time": func(c *rota.Edit) { c.RunAt = j.RunAt },
	} {
		c := y.editCommand(j.ID, change)
		got := do[*rota.Edited](y, c).Job
		want(y, "version after the same "+name, got.Version, c.ID)
		want(y, "params after the same "+name, string(got.Params), `{"a":1}`)
		want(y, "position after the same "+name, got.Position, j.Position)
	}
	y.wantAuditSince(written)
}

func editAgainAfterOther(y *story) {
	j := y.enqueue(rota.NewJob{})
	first, second := y.editCommand(j.ID, toParams(`{"a":1}`)), y.editCommand(j.ID, toPriority(3))
	do[*rota.Edited](y, first)
	do[*rota.Edited](y, second)
	y.edit(j.ID, toParams(`{"b":2}`))
	y.advance(time.Second)
	before := y.dump()
	for _, c := range []*rota.Edit{first, second} {
		got := do[*rota.Edited](y, c).Job
		want(y, "params", string(got.Params), `{"b":2}`)
		want(y, "priority", got.Priority, 3)
	}
	y.wantUnchanged(before)
}

func editAgainAfterClaim(y *story) {
	j := y.enqueue(rota.NewJob{})
	c := y.editCommand(j.ID, toPriority(1))
	do[*rota.Edited](y, c)
	y.claimOne()
	before := y.dump()
	got := do[*rota.Edited](y, c).Job
	want(y, "status", got.Status, rota.StatusRunning)
	want(y, "token shown", got.Run.Token, rota.Token{})
	y.wantUnchanged(before)
}
