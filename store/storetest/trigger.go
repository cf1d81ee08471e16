package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testTrigger(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a trigger creates a job now and does not change the calendar", triggerNow},
		{"a trigger may override params and priority", triggerOverlaid},
		{"a trigger creates one job per scope", triggerScopes},
		{"a trigger works in every state of the schedule", triggerState},
		{"a trigger obeys the overlap policy", triggerOverlap},
		{"a trigger does not wait for dependencies", triggerDependency},
		{"a trigger of a schedule that cannot run is refused", triggerRefused},
		{"a backfill creates jobs for past times, oldest first, and does not change the calendar", backfillTimes},
		{"a backfill creates no job for a time that was fired", backfillKnown},
		{"backfilled jobs run one after the other unless overlap is allowed", backfillOverlap},
		{"a backfill is not skipped while another execution runs", backfillNotSkipped},
		{"a backfill of several scopes is ordered by time", backfillScopes},
		{"an impossible backfill is refused", backfillRefused},
	})
}

func triggerNow(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{Params: json.RawMessage(`{"a":1}`), ConcurrencyKey: "db"})
	s := y.declare("nightly", rota.ScheduleSpec{Priority: new(2)})
	y.advance(time.Minute)
	written := y.writtenAudit()
	c := &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
	c.Actor = "bob"
	jobs := do[*rota.Triggered](y, c).Jobs
	want(y, "jobs", len(jobs), 1)
	expected := rota.Job{
		ID: c.JobID(0), ExecutionID: c.JobID(0), Type: "mail", Name: "nightly", Template: "report", Schedule: "nightly",
		Params: json.RawMessage(`{"a":1}`), Status: rota.StatusQueued, Priority: 2, Position: 100, Attempt: 1,
		Policy: rota.PolicyPatch{}.Policy(), CountsAt: y.now, ConcurrencyKey: "db",
		Owner: rota.AdminUser, CreatedBy: "bob", CreatedAt: y.now, QueuedAt: y.now,
	}
	want(y, "difference of the job", difference(jobText(&expected), jobText(y.job(c.JobID(0)))), "")
	row := y.schedule("nightly")
	wantTime(y, "next fire", row.NextFire, s.NextFire)
	wantTime(y, "last fire", row.LastFire, time.Time{})
	wantTime(y, "triggered at", row.TriggeredAt, y.now)
	want(y, "version", row.Version, s.Version)
	fired := y.auditEntry(c, rota.AuditScheduleFired, "schedule nightly", "trigger")
	fired.JobID, fired.ExecutionID = jobs[0].ID, jobs[0].ID
	y.wantAuditSince(written, fired)
}

func triggerOverlaid(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{Params: json.RawMessage(`{"a":1,"b":1,"c":1}`)})
	y.declare("nightly", rota.ScheduleSpec{Params: json.RawMessage(`{"b":2,"c":2}`), Priority: new(2)})
	c := &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly", Params: json.RawMessage(`{"c":3}`), Priority: new(7)}
	j := do[*rota.Triggered](y, c).Jobs[0]
	want(y, "params", string(j.Params), `{"a":1,"b":2,"c":3}`)
	want(y, "priority", j.Priority, 7)
}

func triggerScopes(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "t", ID: "b"}, {Kind: "t", ID: "a"}}})
	c := &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
	jobs := do[*rota.Triggered](y, c).Jobs
	want(y, "scopes", joinNames(jobs, func(j *rota.Job) string { return j.ScopeID }), "a b")
	want(y, "id", jobs[1].ID, c.JobID(1))
}

func triggerState(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	for _, state := range []rota.ScheduleState{rota.SchedulePaused, rota.ScheduleDisabled} {
		y.switchTo("nightly", state)
		want(y, "ready", y.trigger("nightly").Ready(), true)
		want(y, "state", y.schedule("nightly").State, state)
	}
}

func triggerOverlap(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	y.fireNext("nightly")
	running := y.claimOne()
	y.wantState(rota.StateSkipped, y.trigger("nightly"))
	y.complete(running)
	y.wantState(rota.StateQueued, y.trigger("nightly"))
	y.wantState(rota.StateSkipped, y.fireNext("nightly"))
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	waits := y.claimOne()
	next := y.trigger("nightly")
	want(y, "asked to stop", y.heartbeat(waits).Cancel, true)
	y.wantHold(next, rota.HoldOverlap)
}

func triggerDependency(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	want(y, "ready", y.trigger("load").Ready(), true)
}

func triggerRefused(y *story) {
	y.wantField(rota.NotFound, "schedule", &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"})
	y.declareTemplate("report", rota.TemplateSpec{Params: oversized(rota.ParamsMax - 20)})
	y.declare("nightly", rota.ScheduleSpec{})
	long := json.RawMessage(`{"b":"twenty letters of it"}`)
	y.wantField(rota.Invalid, "params", &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly", Params: long})
	y.archive("report")
	y.wantField(rota.Conflict, "schedule", &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"})
}

func backfillTimes(y *story) {
	s := y.declare("nightly", rota.ScheduleSpec{})
	y.now = startTime.Add(4*time.Hour + 30*time.Minute)
	written := y.writtenAudit()
	c := y.backfillCommand("nightly", startTime, startTime.Add(3*time.Hour))
	c.Actor = "bob"
	got := do[*rota.Backfilled](y, c)
	y.wantPlans(got.Jobs, time.Hour, 2*time.Hour, 3*time.Hour)
	wantIDs(y, "the queue", y.queue(), got.Jobs...)
	for i, j := range got.Jobs {
		want(y, "id", j.ID, c.JobID(i))
		want(y, "created by", j.CreatedBy, "ada")
		wantTime(y, "counts at", j.CountsAt, j.PlanTime)
	}
	row := y.schedule("nightly")
	wantTime(y, "next fire", row.NextFire, s.NextFire)
	wantTime(y, "last fire", row.LastFire, time.Time{})
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditScheduleFired, "schedule nightly", "backfill"))
	y.wantPlans(y.fire("nightly"), 4*time.Hour)
}

func backfillKnown(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.now = startTime.Add(3 * time.Hour)
	got := y.backfill("nightly", startTime, y.now)
	want(y, "known", got.Known, 1)
	y.wantPlans(got.Jobs, 2*time.Hour, 3*time.Hour)
	want(y, "known to a second", y.backfill("nightly", startTime, y.now).Known, 3)
	want(y, "all jobs", len(y.allJobs()), 3)
}

func backfillOverlap(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	y.now = startTime.Add(3 * time.Hour)
	jobs := y.backfill("nightly", startTime, y.now).Jobs
	for i := range jobs {
		wantIDs(y, "the queue", y.queue(), jobs[i])
		for _, later := range jobs[i+1:] {
			y.wantHold(later, rota.HoldOverlap)
		}
		y.complete(y.claimOne())
	}
}

func backfillNotSkipped(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	y.trigger("nightly")
	running := y.claimOne()
	y.now = startTime.Add(time.Hour)
	j := y.backfill("nightly", startTime, y.now).Jobs[0]
	y.wantHold(j, rota.HoldOverlap)
	y.complete(running)
	y.wantHold(j, 0)
}

func backfillScopes(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, Scopes: []rota.Scope{{Kind: "t", ID: "a"}, {Kind: "t", ID: "b"}}})
	y.now = startTime.Add(2 * time.Hour)
	jobs := y.backfill("nightly", startTime, y.now).Jobs
	want(y, "scopes", joinNames(jobs, func(j *rota.Job) string { return j.ScopeID }), "a b a b")
	wantIDs(y, "the queue", y.queue(), jobs[0], jobs[1])
}

func backfillRefused(y *story) {
	past := func(times ...time.Time) *rota.Backfill {
		c := &rota.Backfill{Meta: y.ids.meta(), Schedule: "nightly"}
		for _, at := range times {
			c.Times = append(c.Times, rota.FireTime{At: at})
		}
		return c
	}
	y.wantField(rota.NotFound, "schedule", past(startTime))
	var scopes []rota.Scope
	for i := range rota.ScopesMax {
		scopes = append(scopes, rota.Scope{Kind: "t", ID: string(rune('a'+i/100)) + string(rune('A'+i%100))})
	}
	y.declare("nightly", rota.ScheduleSpec{Scopes: scopes})
	y.wantField(rota.Invalid, "times", past(y.now.Add(-time.Second), y.now.Add(time.Microsecond)))
	var many []time.Time
	for i := range rota.JobsMax/rota.ScopesMax + 1 {
		many = append(many, startTime.Add(time.Duration(i-100)*time.Second))
	}
	y.wantField(rota.Invalid, "times", past(many...))
	y.archive("report")
	y.wantField(rota.Conflict, "schedule", past(startTime))
}
