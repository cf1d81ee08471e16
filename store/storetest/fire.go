package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testFire(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a fire creates the job and advances the calendar in one step", fireCreatesJob},
		{"of two fires of one time one creates the job", fireTwice},
		{"a fire sent again is answered with its jobs", fireResent},
		{"a fire of a schedule that was changed, paused or deleted since creates no job", fireMoved},
		{"a fire that expects another time creates no job", fireExpects},
		{"a fire creates one job per scope, in order", fireScopes},
		{"a planned execution exists once, whether enqueued, fired or backfilled", firePlanned},
		{"a fire creates jobs only for scopes that have none", fireScopesKnown},
		{"an enqueue with a plan time under the name of a schedule is refused", firePlanKept},
		{"a time in the future is not fired", fireEarly},
		{"params and priority of the schedule override those of the template", fireOverlaid},
		{"a schedule past its end stays enabled and has no next fire", fireEnds},
		{"a fire without times only advances the calendar", fireNothing},
		{"a retry of a fired job keeps schedule, scope and plan time", fireRetry},
	})
}

func fireCreatesJob(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{Params: json.RawMessage(`{"a":1}`), Priority: new(2), ConcurrencyKey: "db"})
	s := y.declare("nightly", rota.ScheduleSpec{})
	y.advanceTo(s.NextFire.Add(time.Second))
	c := y.fireCommand("nightly")
	c.Actor = ""
	got := do[*rota.Fired](y, c)
	want(y, "jobs", len(got.Jobs), 1)
	want(y, "known", got.Known, 0)
	expected := rota.Job{
		ID: c.JobID(0), ExecutionID: c.JobID(0), Type: "mail", Name: "nightly", Template: "report", Schedule: "nightly",
		Params: json.RawMessage(`{"a":1}`), Status: rota.StatusQueued, Priority: 2, Position: 100, Attempt: 1,
		Policy: rota.PolicyPatch{}.Policy(), PlanTime: s.NextFire, CountsAt: s.NextFire, ConcurrencyKey: "db",
		Owner: rota.AdminUser, CreatedBy: "ada", CreatedAt: y.now, QueuedAt: y.now,
	}
	want(y, "difference of the job", difference(jobText(&expected), jobText(y.job(c.JobID(0)))), "")
	want(y, "difference of the answer", difference(jobText(&expected), jobText(got.Jobs[0])), "")
	row := y.schedule("nightly")
	wantTime(y, "last fire", row.LastFire, s.NextFire)
	wantTime(y, "next fire", row.NextFire, s.NextFire.Add(time.Hour))
	want(y, "version", row.Version, s.Version)
	wantTime(y, "updated at", row.UpdatedAt, s.UpdatedAt)
	wantTime(y, "moved at", row.MovedAt, y.now)
	want(y, "claimed", y.claimOne().ID, c.JobID(0))
}

func fireTwice(y *story) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	one, two := y.fireCommand("nightly"), y.fireCommand("nightly")
	want(y, "created by the first", len(do[*rota.Fired](y, one).Jobs), 1)
	before := y.dump()
	late := do[*rota.Fired](y, two)
	want(y, "the second reports it as moved", late.ScheduleChanged, true)
	want(y, "created by the second", len(late.Jobs), 0)
	y.wantUnchanged(before)
}

func fireResent(y *story) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "t", ID: "a"}, {Kind: "t", ID: "b"}}}).NextFire)
	c := y.fireCommand("nightly")
	created := do[*rota.Fired](y, c).Jobs
	y.claim(1)
	y.deleteAll(created[1].ID)
	y.advance(24 * time.Hour)
	before := y.dump()
	again := do[*rota.Fired](y, c)
	want(y, "moved", again.ScheduleChanged, false)
	wantIDs(y, "its jobs", idsOf(again.Jobs), created[0])
	want(y, "known", again.Known, 1)
	y.wantUnchanged(before)
}

// deleteAll cancels and prunes an execution.
func (y *story) deleteAll(id rota.ID) {
	y.Helper()
	y.cancel(id)
	want(y, "pruned", y.prune(id).Executions, 1)
}

func fireMoved(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	for _, change := range []func(){
		func() { y.declare("nightly", rota.ScheduleSpec{Description: "new"}) },
		func() { y.switchTo("nightly", rota.SchedulePaused) },
		func() { y.switchTo("nightly", rota.ScheduleDisabled) },
		func() { y.deleteSchedule("nightly") },
	} {
		y.switchTo("nightly", rota.ScheduleEnabled)
		y.advanceTo(y.schedule("nightly").NextFire)
		c := y.fireCommand("nightly")
		change()
		before := y.dump()
		got := do[*rota.Fired](y, c)
		want(y, "moved", got.ScheduleChanged, true)
		want(y, "jobs", len(got.Jobs), 0)
		y.wantUnchanged(before)
	}
}

func fireExpects(y *story) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	for _, off := range []time.Duration{-time.Hour, -time.Microsecond, time.Microsecond} {
		c := y.fireCommand("nightly")
		c.Expect = c.Expect.Add(off)
		before := y.dump()
		want(y, "moved", do[*rota.Fired](y, c).ScheduleChanged, true)
		y.wantUnchanged(before)
	}
}

func fireScopes(y *story) {
	spec := rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "t", ID: "b"}, {Kind: "t", ID: "a"}, {Kind: rota.GlobalScopeKind, ID: rota.GlobalScopeID}}}
	y.advanceTo(y.declare("nightly", spec).NextFire)
	c := y.fireCommand("nightly")
	jobs := do[*rota.Fired](y, c).Jobs
	want(y, "scopes", joinNames(jobs, func(j *rota.Job) string { return "[" + j.ScopeKind + j.ScopeID + "]" }), "[] [ta] [tb]")
	for i, j := range jobs {
		want(y, "id", j.ID, c.JobID(i))
		want(y, "position", j.Position, int64(i+1)*100)
	}
	wantIDs(y, "the queue", y.queue(), jobs...)
}

func firePlanned(y *story) {
	first := y.enqueue(rota.NewJob{Name: "nightly", PlanTime: startTime.Add(time.Hour)})
	y.declare("nightly", rota.ScheduleSpec{})
	y.advanceTo(startTime.Add(time.Hour))
	got := do[*rota.Fired](y, y.fireCommand("nightly"))
	want(y, "jobs", len(got.Jobs), 0)
	want(y, "known", got.Known, 1)
	want(y, "all jobs", len(y.allJobs()), 1)
	wantTime(y, "next fire", y.schedule("nightly").NextFire, startTime.Add(2*time.Hour))
	y.cancel(first.ID)
	y.advanceTo(startTime.Add(2 * time.Hour))
	want(y, "backfilled before", y.backfill("nightly", startTime.Add(time.Hour), startTime.Add(2*time.Hour)).Known, 1)
	want(y, "known after the backfill", do[*rota.Fired](y, y.fireCommand("nightly")).Known, 1)
}

func fireScopesKnown(y *story) {
	y.enqueue(rota.NewJob{Name: "nightly", PlanTime: startTime.Add(time.Hour), ScopeKind: "t", ScopeID: "a"})
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "t", ID: "a"}, {Kind: "t", ID: "b"}}}).NextFire)
	c := y.fireCommand("nightly")
	got := do[*rota.Fired](y, c)
	want(y, "known", got.Known, 1)
	want(y, "jobs", len(got.Jobs), 1)
	want(y, "scope", got.Jobs[0].ScopeID, "b")
	want(y, "id", got.Jobs[0].ID, c.JobID(1))
}

func firePlanKept(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	plan := func(n rota.NewJob) *rota.Enqueue {
		return &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Type: "mail"}, n}}
	}
	y.wantField(rota.Conflict, "jobs[1].plan_time", plan(rota.NewJob{Type: "mail", Name: "nightly", PlanTime: startTime}))
	y.wantField(rota.Conflict, "jobs[1].plan_time", plan(rota.NewJob{Type: "nightly", PlanTime: startTime}))
	y.enqueue(rota.NewJob{Name: "nightly"})
	y.enqueue(rota.NewJob{Name: "other", PlanTime: startTime})
}

func fireEarly(y *story) {
	next := y.declare("nightly", rota.ScheduleSpec{}).NextFire
	version := y.schedule("nightly").Version
	y.now = next.Add(-time.Microsecond)
	early := &rota.Fire{Meta: y.ids.meta(), Schedule: "nightly", Version: version, Expect: next, Times: []rota.FireTime{{At: next}}, Next: next.Add(time.Hour)}
	y.wantField(rota.Conflict, "times", early)
	skip := &rota.Fire{Meta: y.ids.meta(), Schedule: "nightly", Version: version, Expect: next, Next: next.Add(time.Hour)}
	y.wantField(rota.Conflict, "expect", skip)
	y.now = next
	two := &rota.Fire{Meta: y.ids.meta(), Schedule: "nightly", Version: version, Expect: next, Times: []rota.FireTime{{At: next}, {At: next.Add(time.Microsecond)}}}
	y.wantField(rota.Conflict, "times", two)
	want(y, "on time", len(do[*rota.Fired](y, early).Jobs), 1)
}

func fireOverlaid(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{Params: json.RawMessage(`{"a":1,"b":1}`), Priority: new(2)})
	y.declare("nightly", rota.ScheduleSpec{Params: json.RawMessage(`{"b":2,"c":2}`), Priority: new(-1)})
	j := y.fireNext("nightly")
	want(y, "params", string(j.Params), `{"a":1,"b":2,"c":2}`)
	want(y, "priority", j.Priority, -1)
	y.declareTemplate("report", rota.TemplateSpec{Type: "other"})
	y.declare("nightly", rota.ScheduleSpec{})
	j = y.fireNext("nightly")
	want(y, "type as it is now", j.Type, "other")
	want(y, "priority by default", j.Priority, rota.DefaultPriority)
}

func fireEnds(y *story) {
	y.declare("short", rota.ScheduleSpec{EndsAt: startTime.Add(2 * time.Hour)})
	y.fireNext("short")
	last := y.fireNext("short")
	row := y.schedule("short")
	want(y, "state", row.State, rota.ScheduleEnabled)
	wantTime(y, "next fire", row.NextFire, time.Time{})
	wantTime(y, "last fire", row.LastFire, last.PlanTime)
	wantTime(y, "due", y.due().Fire, time.Time{})
	y.complete(y.claim(2)[1])
	want(y, "state after its last job", y.schedule("short").State, rota.ScheduleEnabled)
}

func fireNothing(y *story) {
	s := y.declare("nightly", rota.ScheduleSpec{})
	y.advanceTo(s.NextFire)
	c := &rota.Fire{Meta: y.ids.meta(), Schedule: "nightly", Version: s.Version, Expect: s.NextFire, Next: s.NextFire.Add(3 * time.Hour)}
	got := do[*rota.Fired](y, c)
	want(y, "moved", got.ScheduleChanged, false)
	want(y, "jobs", len(got.Jobs), 0)
	row := y.schedule("nightly")
	wantTime(y, "next fire", row.NextFire, s.NextFire.Add(3*time.Hour))
	wantTime(y, "last fire", row.LastFire, time.Time{})
}

func fireRetry(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{ConcurrencyKey: "db"})
	y.declare("nightly", rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "t", ID: "a"}}})
	fired := y.fireNext("nightly")
	r := y.job(y.fail(y.claimOne()).RetryID)
	want(y, "template", r.Template, "report")
	want(y, "schedule", r.Schedule, "nightly")
	want(y, "concurrency key", r.ConcurrencyKey, "db")
	want(y, "scope", r.ScopeKind+r.ScopeID, "ta")
	wantTime(y, "counts at", r.CountsAt, fired.CountsAt)
	wantTime(y, "plan time", r.PlanTime, fired.PlanTime)
	want(y, "priority", r.Priority, fired.Priority)
	y.wantNoViolations()
}
