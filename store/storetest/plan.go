package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

var planned = rota.NewJob{Type: "mail", Name: "nightly", PlanTime: startTime.Add(time.Hour)}

func testPlan(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a planned execution exists once", planOnce},
		{"a planned execution twice in one command is created once", planTwiceInCommand},
		{"another name, scope or time is another execution", planOther},
		{"an explicit global scope equals an empty scope", planGlobal},
		{"a job without a name is planned under its type", planByType},
		{"a planned execution is not created again after it ended", planEnded},
		{"a retry does not count as planned", planRetry},
		{"a held unique key is checked before the plan", planAfterKey},
	})
}

// wantPlannedBy submits a job that must be answered with another as its duplicate.
func (y *story) wantPlannedBy(n rota.NewJob, by *rota.Job) {
	y.Helper()
	before := y.dump()
	one := y.submit(n)
	if !one.Duplicate || one.Job.ID != by.ID {
		y.Fatalf("got %s, duplicate %v; want the planned %s", one.Job.ID, one.Duplicate, by.ID)
	}
	y.wantUnchanged(before)
}

func planOnce(y *story) {
	first := y.enqueue(planned)
	y.wantPlannedBy(planned, first)
	later := planned
	later.PlanTime = planned.PlanTime.In(time.FixedZone("east", 3600)).Add(999 * time.Nanosecond)
	y.wantPlannedBy(later, first)
}

func planTwiceInCommand(y *story) {
	jobs := do[*rota.Enqueued](y, &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{planned, planned}}).Jobs
	want(y, "duplicate", jobs[1].Duplicate, true)
	want(y, "second", jobs[1].Job.ID, jobs[0].Job.ID)
}

func planOther(y *story) {
	y.enqueue(planned)
	for _, change := range []func(*rota.NewJob){
		func(n *rota.NewJob) { n.Name = "hourly" },
		func(n *rota.NewJob) { n.PlanTime = n.PlanTime.Add(time.Microsecond) },
		func(n *rota.NewJob) { n.ScopeKind, n.ScopeID = "tenant", "1" },
		func(n *rota.NewJob) { n.ScopeKind, n.ScopeID = "tenant", "2" },
		func(n *rota.NewJob) { n.ScopeKind, n.ScopeID = "shard", "1" },
		func(n *rota.NewJob) { n.PlanTime = time.Time{} },
		func(n *rota.NewJob) { n.PlanTime = time.Time{} },
	} {
		n := planned
		change(&n)
		y.enqueue(n)
	}
}

func planGlobal(y *story) {
	n := planned
	n.ScopeKind, n.ScopeID = rota.GlobalScopeKind, rota.GlobalScopeID
	first := y.enqueue(n)
	want(y, "scope", first.ScopeKind+first.ScopeID, "")
	y.wantPlannedBy(planned, first)
	y.wantPlannedBy(n, first)
}

func planByType(y *story) {
	first := y.enqueue(rota.NewJob{Type: "mail", PlanTime: startTime})
	y.wantPlannedBy(rota.NewJob{Type: "other", Name: "mail", PlanTime: startTime}, first)
}

func planEnded(y *story) {
	first := y.enqueue(planned)
	y.cancel(first.ID)
	y.wantPlannedBy(planned, first)
	n := planned
	n.PlanTime = n.PlanTime.Add(time.Hour)
	second := y.running(n)
	y.failPermanently(second)
	y.wantPlannedBy(n, second)
}

func planRetry(y *story) {
	first := y.running(planned)
	retry := y.job(y.fail(first).RetryID)
	wantTime(y, "plan time of the retry", retry.PlanTime, planned.PlanTime)
	y.wantPlannedBy(planned, first)
}

func planAfterKey(y *story) {
	holder := y.enqueue(rota.NewJob{Type: "mail", UniqueKey: "k"})
	y.enqueue(planned)
	n := planned
	n.UniqueKey = "k"
	y.wantPlannedBy(n, holder)
	n.UniqueKey = "free"
	first := y.submit(planned).Job
	y.wantPlannedBy(n, first)
	if y.submit(rota.NewJob{UniqueKey: "free"}).Duplicate {
		y.Error("a job that was not created holds its key")
	}
}
