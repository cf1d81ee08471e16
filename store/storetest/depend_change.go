package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testDependChange(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a scoped job waits for the same scope of its dependency", dependOwnScope},
		{"a global job waits for every scope of its dependency", dependEveryScope},
		{"scoped jobs wait for the one execution of a dependency without scopes", dependGlobalScope},
		{"a job waits for a scope that its dependency does not have", dependMissingScope},
		{"a changed schedule keeps its dependents", dependParentChanged},
		{"deleting a dependent does not affect other dependents", dependChildDeleted},
		{"deleting a dependency releases the jobs that wait for it", dependParentDeleted},
		{"removing a dependency releases the jobs that wait for it", dependRemoved},
		{"adding a dependency does not hold jobs that were fired before", dependAddedLater},
		{"jobs of a deleted schedule no longer wait", dependOwnDeleted},
		{"a dependency whose next fire moves past the plan time releases the job", dependNextMoves},
		{"expire skips jobs page by page, longest waiting first", expirePages},
		{"expire releases waiting jobs that the end of their dependency left", expireFrees},
		{"expire changes nothing when no job waits", expireNothing},
	})
}

var tenants = []rota.Scope{{Kind: "t", ID: "a"}, {Kind: "t", ID: "b"}}

// fireScoped declares extract and load with scopes and fires both an hour later.
func (y *story) fireScoped(extract, load []rota.Scope) (extracts, loads []*rota.Job) {
	y.Helper()
	y.declare("extract", rota.ScheduleSpec{Scopes: extract})
	y.declare("load", rota.ScheduleSpec{Scopes: load, DependsOn: []string{"extract"}, Priority: new(-1)})
	y.advance(time.Hour)
	y.fire("extract")
	return y.claim(len(extract) + 1), y.fire("load")
}

func dependOwnScope(y *story) {
	extracts, loads := y.fireScoped(tenants, tenants)
	y.complete(extracts[1])
	y.wantHold(loads[0], rota.HoldDependency)
	y.wantHold(loads[1], 0)
	y.complete(extracts[0])
	y.wantHold(loads[0], 0)
}

func dependEveryScope(y *story) {
	extracts, loads := y.fireScoped(tenants, nil)
	y.complete(extracts[1])
	y.wantHold(loads[0], rota.HoldDependency)
	y.complete(extracts[0])
	y.wantHold(loads[0], 0)
}

func dependGlobalScope(y *story) {
	extracts, loads := y.fireScoped(nil, tenants)
	y.wantHold(loads[0], rota.HoldDependency)
	y.complete(extracts[0])
	y.wantHold(loads[0], 0)
	y.wantHold(loads[1], 0)
}

func dependMissingScope(y *story) {
	extracts, loads := y.fireScoped(tenants[:1], tenants)
	y.complete(extracts[0])
	y.wantHold(loads[0], 0)
	y.wantHold(loads[1], rota.HoldDependency)
}

func dependParentChanged(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	running := y.claimOne()
	y.declare("extract", rota.ScheduleSpec{Description: "changed"})
	y.declare("extract", rota.ScheduleSpec{Every: 2 * time.Hour})
	want(y, "depends on", len(y.schedule("load").Spec.DependsOn), 1)
	y.wantHold(load, rota.HoldDependency)
	y.complete(running)
	y.wantHold(load, 0)
	y.wantHold(y.fireNext("load"), rota.HoldDependency)
}

func dependChildDeleted(y *story) {
	y.declareExtractLoad()
	y.declare("sibling", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.fireExtractLoad()
	sibling := y.fireNext("sibling")
	running := y.claimOne()
	y.deleteSchedule("load")
	y.wantHold(sibling, rota.HoldDependency)
	y.complete(running)
	y.wantHold(sibling, 0)
	want(y, "next of the parent", y.fireNext("extract").Ready(), true)
}

func dependParentDeleted(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	y.deleteSchedule("extract")
	y.wantHold(load, 0)
	want(y, "depends on", len(y.schedule("load").Spec.DependsOn), 0)
	want(y, "ready at the next fire", y.fireNext("load").Ready(), true)
}

func dependRemoved(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	y.declare("load", rota.ScheduleSpec{})
	y.wantHold(load, 0)
}

func dependAddedLater(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{})
	_, load := y.fireExtractLoad()
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.wantHold(load, 0)
}

func dependOwnDeleted(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	y.deleteSchedule("load")
	y.wantHold(load, 0)
}

func dependNextMoves(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.advance(30 * time.Minute)
	y.trigger("extract")
	y.complete(y.claimOne())
	load := y.fireNext("load")
	y.wantHold(load, rota.HoldDependency)
	y.declare("extract", rota.ScheduleSpec{Every: 5 * time.Hour})
	y.wantHold(load, 0)
}

// fireWaiting declares count schedules that depend on one, and fires them all.
func (y *story) fireWaiting(count int) {
	y.Helper()
	y.declare("extract", rota.ScheduleSpec{At: startTime.Add(time.Hour)})
	var batch []rota.Command
	for i := range count {
		batch = append(batch, y.declareCommand(fmt.Sprintf("w%03d", i), rota.ScheduleSpec{DependsOn: []string{"extract"}}))
	}
	y.send(batch...)
	y.fireNext("extract")
	batch = batch[:0]
	for i := range count {
		batch = append(batch, y.fireCommand(fmt.Sprintf("w%03d", i)))
	}
	y.send(batch...)
}

func expirePages(y *story) {
	y.fireWaiting(5)
	y.advanceTo(startTime.Add(2 * time.Hour))
	var seen []rota.ID
	for _, count := range []int{2, 2, 1} {
		got := do[*rota.Expired](y, &rota.Expire{Meta: y.ids.meta(), Limit: 2})
		want(y, "skipped", len(got.Skipped), count)
		want(y, "more", got.More, count == 2)
		seen = append(seen, got.Skipped...)
	}
	for i := 1; i < len(seen); i++ {
		want(y, "the older first", seen[i-1].Compare(seen[i]), -1)
	}
}

// expireFrees has more waiting jobs than the end of one execution checks. Expire releases the
// rest and does not skip it.
func expireFrees(y *story) {
	var scopes []rota.Scope
	for i := range rota.ScopesMax {
		scopes = append(scopes, rota.Scope{Kind: "t", ID: fmt.Sprintf("%04d", i)})
	}
	y.declare("extract", rota.ScheduleSpec{At: startTime.Add(time.Hour)})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}, Scopes: scopes})
	y.declare("other", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.fireNext("extract")
	y.fire("load")
	other := y.fireNext("other")
	y.complete(y.claimOne())
	want(y, "released at once", len(y.queue()), rota.DependentsMax)
	y.wantHold(other, rota.HoldDependency)
	y.advanceTo(other.WaitUntil)
	got := y.expire()
	want(y, "skipped", len(got.Skipped), 0)
	want(y, "freed", joinNames(got.Freed, rota.ID.String), other.ID.String())
	y.wantHold(other, 0)
}

func expireNothing(y *story) {
	y.declareExtractLoad()
	y.fireExtractLoad()
	y.complete(y.claimOne())
	y.advance(100 * time.Hour)
	before := y.dump()
	got := y.expire()
	want(y, "done", len(got.Skipped)+len(got.Freed), 0)
	want(y, "more", got.More, false)
	y.wantUnchanged(before)
}
