package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testCounts(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"jobs are listed oldest first, page by page", countOldest},
		{"a list can be bounded by two ids, in either direction", countBounded},
		{"a lean list omits documents and nothing else", countLean},
		{"a count equals the length of the list for every query", countPicked},
		{"jobs of an internal type are counted only if the query names the type", countInternal},
		{"a run that ended and was not settled is counted by its outcome", countUnsettled},
		{"a count with an invalid filter is refused", countRefused},
	})
}

func countOldest(y *story) {
	jobs := y.enqueueMany(7)
	for _, limit := range []int{1, 2, 3, 7, 8} {
		got, err := allJobs(y.ctx, y.s, rota.JobQuery{Oldest: true, Limit: limit})
		wantIDs(y, "the list", idsOf(must(y, "jobs", got, err)), jobs...)
	}
}

func countBounded(y *story) {
	jobs := y.enqueueMany(6)
	within := rota.JobQuery{After: jobs[0].ID, Before: jobs[5].ID, Limit: 3}
	newest, oldest := within, within
	oldest.Oldest = true
	wantIDs(y, "the newest", y.listIDs(newest), jobs[4], jobs[3], jobs[2])
	wantIDs(y, "the oldest", y.listIDs(oldest), jobs[1:4]...)
	want(y, "in all", y.countJobs(y.s, within), 4)
	wantIDs(y, "behind the last", y.listIDs(rota.JobQuery{After: jobs[5].ID}))
	wantIDs(y, "newest of those after", y.listIDs(rota.JobQuery{After: jobs[1].ID, Limit: 2}), jobs[5], jobs[4])
	wantIDs(y, "oldest of those before", y.listIDs(rota.JobQuery{Before: jobs[4].ID, Oldest: true, Limit: 2}), jobs[:2]...)
}

func countLean(y *story) {
	j := y.running(rota.NewJob{Params: []byte(`{"a":1}`), UniqueKey: "k"})
	y.note(j, rota.NoteItem{Artifacts: []string{"a"}, Progress: []byte(`3`)})
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, ExitCode: ptr(2), Result: []byte(`[1]`), Error: "e", ErrorCode: "c"})
	y.enqueue(rota.NewJob{Params: []byte(`{"long":"` + strings.Repeat("x", 10_000) + `"}`)})
	whole := y.allJobs()
	for _, q := range []rota.JobQuery{{Lean: true}, {Lean: true, State: rota.StateFailed}, {Lean: true, Oldest: true}} {
		lean, err := y.s.Jobs(y.ctx, q)
		for _, got := range must(y, "jobs", lean, err) {
			at := slices.IndexFunc(whole, func(j *rota.Job) bool { return j.ID == got.ID })
			expected := *whole[at]
			expected.Params = nil
			if expected.Run != nil {
				run := *expected.Run
				run.Result, run.Progress, run.Artifacts = nil, nil, nil
				expected.Run = &run
			}
			want(y, "difference of a lean job", difference(jobText(&expected), jobText(got)), "")
		}
		want(y, "listed", int64(len(lean)), y.countJobs(y.s, q))
	}
}

// countPicked counts jobs of a store that has a job in each state, with and without a schedule,
// and a dead letter.
func countPicked(y *story) {
	group := y.mixedJobs()
	all := y.allJobs()
	found := 0
	for _, q := range countQueries(group, all[len(all)/2].ID) {
		for _, q.State = range []rota.State{
			"", rota.StateScheduled, rota.StateBlocked, rota.StateQueued, rota.StateRunning,
			rota.StateCompleted, rota.StateFailed, rota.StateSkipped, rota.StateCancelled,
		} {
			for _, q.Status = range []rota.Status{"", rota.StatusQueued, rota.StatusRunning, rota.StatusCancelled} {
				found += y.wantCounted(q)
			}
		}
	}
	want(y, "more than 100 found", found > 100, true)
	want(y, "with a limit out of range", y.countJobs(y.s, rota.JobQuery{Limit: rota.PageMax + 1}), int64(len(all)))
}

// countQueries returns the filters that each state is combined with.
func countQueries(group, middle rota.ID) []rota.JobQuery {
	return []rota.JobQuery{
		{},
		{Tails: true},
		{Type: "mail"},
		{Type: "mail", Tails: true},
		{Type: "none"},
		{Schedule: "nightly"},
		{Schedule: "nightly", Tails: true},
		{Schedule: "nightly", Type: "other"},
		{Template: "report"},
		{Template: "report", Schedule: "nightly"},
		{GroupID: group},
		{Dead: true},
		{Dead: true, GroupID: group},
		{Dead: true, Schedule: "nightly"},
		{Before: middle},
		{After: middle, Tails: true},
		{Before: middle, Schedule: "nightly"},
	}
}

// wantCounted wants the count of a query to equal its list, and the list to be the same from
// either end.
func (y *story) wantCounted(q rota.JobQuery) int {
	y.Helper()
	q.Limit = rota.PageMax
	list := y.listIDs(q)
	q.Oldest = true
	turned := y.listIDs(q)
	slices.Reverse(turned)
	if !slices.Equal(turned, list) {
		y.Errorf("%+v lists\n  %v, and newest first\n  %v", q, turned, list)
	}
	q.Limit = 1
	if n := y.countJobs(y.s, q); n != int64(len(list)) {
		y.Errorf("%+v counts %d, and lists %d", q, n, len(list))
	}
	return len(list)
}

// mixedJobs creates jobs in many states, and a group.
func (y *story) mixedJobs() (group rota.ID) {
	y.Helper()
	y.declare("nightly", rota.ScheduleSpec{})
	for _, end := range []func(*rota.Job){
		func(j *rota.Job) { y.complete(j) }, func(j *rota.Job) { y.fail(j) }, func(j *rota.Job) { y.failPermanently(j) },
		func(j *rota.Job) { y.timeOut(j) },
	} {
		y.fireNext("nightly")
		end(y.claimOne())
		end(y.running(rota.NewJob{Priority: new(5)}))
	}
	y.mustFinish(y.running(rota.NewJob{Priority: new(5)}), rota.FinishItem{Outcome: rota.OutcomeSkipped})
	y.cancel(y.enqueue(rota.NewJob{}).ID)
	y.running(rota.NewJob{Priority: new(5)})
	y.fireNext("nightly")
	y.enqueue(rota.NewJob{Type: "other"})
	y.enqueue(rota.NewJob{Delay: time.Hour})
	return y.enqueueGroup(rota.GroupSequential, rota.FailureContinue, rota.NewJob{}, rota.NewJob{}).Group.ID
}

func countInternal(y *story) {
	y.jobWithDelivery()
	all, ofWebhook := rota.JobQuery{}, rota.JobQuery{Type: rota.TypeWebhook}
	want(y, "queued of all types", y.countJobs(y.s, all), 1)
	want(y, "queued of the one named", y.countJobs(y.s, ofWebhook), 1)
	y.complete(y.claim(1, rota.TypeWebhook)[0])
	for _, q := range []rota.JobQuery{{}, {Tails: true}, {Before: y.ids.next()}} {
		want(y, "ended of all types", y.countJobs(y.s, q), 1)
		q.Type = rota.TypeWebhook
		want(y, "ended of the one named", y.countJobs(y.s, q), 1)
	}
	want(y, "completed", y.countJobs(y.s, rota.JobQuery{State: rota.StateCompleted}), 0)
}

func countUnsettled(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.damage(j.ID, BreakClose)
	for _, q := range []rota.JobQuery{{}, {State: rota.StateCompleted}, {State: rota.StateRunning}, {Status: rota.StatusRunning, Tails: true}} {
		want(y, "counted", y.countJobs(y.s, q), int64(len(y.listIDs(q))))
	}
}

func countRefused(y *story) {
	for field, q := range map[string]rota.JobQuery{
		"status": {Status: "queued"}, "type": {Type: "two words"}, "state": {State: "done"},
	} {
		_, err := y.s.CountJobs(y.ctx, q)
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != field {
			y.Errorf("%s: %v", field, err)
		}
	}
}
