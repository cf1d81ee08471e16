package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testPrune(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a whole execution is removed, with its attempts", pruneChain},
		{"executions that have not ended are kept", pruneLive},
		{"executions that ended after the bound are kept", pruneBefore},
		{"an execution is named only by its first attempt", pruneFirst},
		{"a pruned execution frees its unique and plan keys", pruneKeys},
		{"a key held by another execution stays held", pruneOthersKey},
		{"a group keeps its tally until its last member is pruned", pruneGroup},
		{"a sequential group continues past pruned members", pruneSequential},
		{"reservations that ended long ago are removed", pruneReservations},
		{"the audit is kept", pruneAudit},
		{"a prune stops when it has changed the rows it may", pruneRows},
		{"by age, old executions are found, oldest first", prunableAge},
		{"each outcome has its own age", prunableOutcomes},
		{"by count, the newest of each outcome are kept", prunableCount},
		{"age and count apply together", prunableBoth},
		{"pages cover all executions and pass over live ones", prunablePages},
		{"without a retention nothing is found", prunableNothing},
	})
}

// endInEachWay creates one execution for each end: completed, skipped, cancelled and dead.
func (y *story) endInEachWay() (completed, skipped, cancelled, dead *rota.Job) {
	y.Helper()
	completed = y.running(rota.NewJob{})
	y.complete(completed)
	skipped = y.running(rota.NewJob{})
	y.mustFinish(skipped, rota.FinishItem{Outcome: rota.OutcomeSkipped})
	cancelled = y.enqueue(rota.NewJob{})
	y.cancel(cancelled.ID)
	dead = y.running(rota.NewJob{})
	y.failPermanently(dead)
	return completed, skipped, cancelled, dead
}

func pruneChain(y *story) {
	n := rota.NewJob{Backoff: new(time.Duration(0)), Params: []byte(`{"a":1}`)}
	first := y.running(n)
	y.fail(first)
	second := y.claimOne()
	y.complete(second)
	other := y.enqueue(rota.NewJob{})
	got := y.prune(first.ID)
	want(y, "executions", got.Executions, 1)
	want(y, "jobs", got.Jobs, 2)
	want(y, "kept", len(got.Kept), 0)
	y.wantNotFound("first attempt", errOf(y.s.Job(y.ctx, first.ID)))
	y.wantNotFound("second attempt", errOf(y.s.Job(y.ctx, second.ID)))
	y.wantNotFound("execution", errOf(y.s.Execution(y.ctx, first.ID)))
	wantIDs(y, "all jobs", idsOf(y.allJobs()), other)
	again := y.prune(first.ID)
	want(y, "pruned again", again.Executions+again.Jobs+len(again.Kept), 0)
	y.wantNoViolations()
}

func pruneLive(y *story) {
	waits := y.running(rota.NewJob{})
	y.fail(waits)
	runs := y.running(rota.NewJob{})
	queued, delayed := y.enqueue(rota.NewJob{}), y.enqueue(rota.NewJob{Delay: time.Hour})
	before := y.dump()
	got := y.prune(queued.ID, waits.ID, delayed.ID, runs.ID)
	want(y, "pruned", got.Executions, 0)
	want(y, "kept", joinNames(got.Kept, rota.ID.String), joinNames([]rota.ID{queued.ID, waits.ID, delayed.ID, runs.ID}, rota.ID.String))
	y.wantUnchanged(before)
}

func pruneBefore(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Second)
	y.complete(j)
	prune := func(before time.Time) *rota.Pruned {
		return do[*rota.Pruned](y, &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{j.ID}, Before: before})
	}
	want(y, "kept", len(prune(y.now).Kept), 1)
	want(y, "pruned", prune(y.now.Add(time.Microsecond)).Executions, 1)
}

func pruneFirst(y *story) {
	first := y.running(rota.NewJob{Backoff: new(time.Duration(0))})
	y.fail(first)
	second := y.claimOne()
	y.complete(second)
	want(y, "kept", joinNames(y.prune(second.ID).Kept, rota.ID.String), second.ID.String())
	want(y, "unknown", y.prune(y.ids.next()).Executions, 0)
}

func pruneKeys(y *story) {
	j := y.running(keyed)
	y.complete(j)
	y.wantKeyHeldBy(j)
	plan := y.running(planned)
	y.complete(plan)
	y.wantPlannedBy(planned, plan)
	want(y, "pruned", y.prune(j.ID, plan.ID).Executions, 2)
	y.wantKeyFree()
	y.enqueue(planned)
}

func pruneOthersKey(y *story) {
	old := y.running(keyed)
	y.failPermanently(old)
	holder := y.wantKeyFree()
	y.prune(old.ID)
	y.wantKeyHeldBy(holder)
}

func pruneGroup(y *story) {
	id, _ := y.groupOfThree(rota.GroupParallel, "")
	jobs := y.claim(3)
	y.complete(jobs[0])
	y.failPermanently(jobs[1])
	want(y, "pruned", y.prune(jobs[0].ID, jobs[1].ID, jobs[2].ID).Executions, 2)
	want(y, "size", y.group(id).Size, 3)
	want(y, "pruned members", y.group(id).Pruned, rota.GroupTally{Completed: 1, Dead: 1})
	y.wantTally(id, rota.GroupRunning, rota.GroupTally{Completed: 1, Dead: 1, Running: 1})
	y.complete(jobs[2])
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Completed: 2, Dead: 1})
	y.prune(jobs[2].ID)
	y.wantNotFound("group", errOf(y.s.Group(y.ctx, id)))
}

func pruneSequential(y *story) {
	_, members := y.groupOfThree(rota.GroupSequential, "")
	y.complete(y.claimOne())
	y.prune(members[0].ID)
	y.complete(y.claimOne())
	want(y, "the last has its turn", y.claimOne().ID, members[2].ID)
}

func pruneReservations(y *story) {
	old := y.reserve()
	y.release(old)
	y.advance(rota.ReservationKeep)
	late := y.reserve()
	y.release(late)
	active := y.reserve()
	unknown := y.ids.next()
	y.prune(unknown)
	y.reservation(old.ID)
	y.advance(time.Microsecond)
	y.prune(unknown)
	left, err := y.s.Reservations(y.ctx, rota.ID{}, 0)
	ids := joinNames(must(y, "reservations", left, err), func(r *rota.Reservation) string { return r.ID.String() })
	want(y, "left", ids, active.ID.String()+" "+late.ID.String())
}

func pruneAudit(y *story) {
	j := y.enqueue(rota.NewJob{})
	y.cancel(j.ID)
	y.prune(j.ID)
	want(y, "entries", len(y.writtenAudit()), 1)
}

// prunable reads every page of what may be pruned, checking limit executions per page.
func (y *story) prunable(r rota.Retention, limit int) []rota.ID {
	y.Helper()
	q := rota.PruneQuery{Retention: r, Now: y.now, Limit: limit}
	var all []rota.ID
	for range 1000 {
		page, err := y.s.Prunable(y.ctx, q)
		must(y, "prunable", page, err)
		all = append(all, page.Executions...)
		if !page.More {
			return all
		}
		q.From = page.Next
	}
	y.Fatal("the pages of what may be pruned do not end")
	return nil
}

func prunableAge(y *story) {
	day := rota.Keep{Age: 24 * time.Hour}
	keep := rota.Retention{Completed: day, Skipped: day, Cancelled: day, Dead: day}
	a, b, c, d := y.endInEachWay()
	y.advance(24 * time.Hour)
	wantIDs(y, "on the day", y.prunable(keep, 0))
	y.advance(time.Second)
	wantIDs(y, "a moment later", y.prunable(keep, 0), a, b, c, d)
	young := y.running(rota.NewJob{})
	y.complete(young)
	wantIDs(y, "with a young one", y.prunable(keep, 0), a, b, c, d)
}

func prunableOutcomes(y *story) {
	a, b, c, d := y.endInEachWay()
	y.advance(48 * time.Hour)
	day, week := rota.Keep{Age: 24 * time.Hour}, rota.Keep{Age: 7 * 24 * time.Hour}
	wantIDs(y, "completed", y.prunable(rota.Retention{Completed: day, Dead: week}, 0), a)
	wantIDs(y, "skipped", y.prunable(rota.Retention{Skipped: day}, 0), b)
	wantIDs(y, "cancelled", y.prunable(rota.Retention{Cancelled: day, Completed: week}, 0), c)
	wantIDs(y, "dead", y.prunable(rota.Retention{Dead: day}, 0), d)
	y.advance(40 * 24 * time.Hour)
	wantIDs(y, "by default", y.prunable(rota.DefaultRetention, 0), a, b, c)
}

func prunableCount(y *story) {
	var done []*rota.Job
	for range 5 {
		j := y.running(rota.NewJob{})
		y.complete(j)
		done = append(done, j)
		y.failPermanently(y.running(rota.NewJob{}))
	}
	old := slices.Clone(done[:3])
	slices.Reverse(old)
	for _, limit := range []int{0, 1, 2, 3, 4} {
		wantIDs(y, "all but the newest two", y.prunable(rota.Retention{Completed: rota.Keep{Count: 2}}, limit), old...)
	}
	want(y, "of both", len(y.prunable(rota.Retention{Completed: rota.Keep{Count: 4}, Dead: rota.Keep{Count: 1}}, 3)), 1+4)
}

func prunableBoth(y *story) {
	old := y.running(rota.NewJob{})
	y.complete(old)
	y.advance(48 * time.Hour)
	var young []*rota.Job
	for range 3 {
		j := y.running(rota.NewJob{})
		y.complete(j)
		young = append(young, j)
	}
	keep := rota.Retention{Completed: rota.Keep{Age: 24 * time.Hour, Count: 2}}
	wantIDs(y, "old or too many", y.prunable(keep, 2), young[0], old)
}

func prunablePages(y *story) {
	y.enqueue(rota.NewJob{Delay: time.Hour})
	var all []*rota.Job
	for range 7 {
		j := y.running(rota.NewJob{})
		y.complete(j)
		all = append(all, j)
		y.running(rota.NewJob{})
	}
	y.advance(48 * time.Hour)
	keep := rota.Retention{Completed: rota.Keep{Age: time.Hour}}
	for _, limit := range []int{1, 2, 3, 100} {
		wantIDs(y, "page by page", y.prunable(keep, limit), all...)
	}
	first, err := y.s.Prunable(y.ctx, rota.PruneQuery{Retention: keep, Now: y.now, Limit: 4})
	must(y, "prunable", first, err)
	want(y, "more", first.More, true)
	y.prune(first.Executions...)
	rest, err := y.s.Prunable(y.ctx, rota.PruneQuery{Retention: keep, Now: y.now, From: first.Next})
	want(y, "left after pruning a page", len(must(y, "prunable", rest, err).Executions), 7-len(first.Executions))
}

func prunableNothing(y *story) {
	y.endInEachWay()
	y.advance(1000 * 24 * time.Hour)
	wantIDs(y, "found", y.prunable(rota.Retention{}, 0))
}
