package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

func testFind(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"jobs are found by name, key, scope, error, time and text", findPicked},
		{"an execution is found by its first creation and by the error of its last run", findExecutions},
		{"a search that matches few jobs examines a bounded number of them", findBounded},
		{"a search with an invalid filter is refused", findRefused},
	})
}

// found returns the ids of all pages of a search.
func (y *story) found(q rota.JobQuery) (ids []rota.ID, pages int) {
	y.Helper()
	for pages = 1; ; pages++ {
		page, err := y.s.FindJobs(y.ctx, q)
		page = must(y, "find", page, err)
		ids = append(ids, idsOf(page.Jobs)...)
		if !page.More {
			return ids, pages
		}
		if q.Before = page.Next; q.Oldest {
			q.Before, q.After = rota.ID{}, page.Next
		}
	}
}

// wantFound wants a search, a list and a count to agree.
func (y *story) wantFound(q rota.JobQuery, jobs ...*rota.Job) {
	y.Helper()
	what := fmt.Sprintf("%+v", q)
	found, _ := y.found(q)
	wantIDs(y, "found by "+what, found, jobs...)
	wantIDs(y, "listed by "+what, y.listIDs(q), jobs...)
	want(y, "counted by "+what, y.countJobs(y.s, q), int64(len(jobs)))
}

func findPicked(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "tenant", ID: "7"}}})
	fired := y.trigger("nightly")
	y.mustFinish(y.claimOne(), rota.FinishItem{Outcome: rota.OutcomeFailed, Permanent: true, Error: "Disk FULL at 100%", ErrorCode: "disk"})
	y.advance(time.Second)
	before := y.now
	keyed := y.enqueue(rota.NewJob{Type: "mail", UniqueKey: "order:4711", ScopeKind: "user", ScopeID: "7"})
	named := y.enqueue(rota.NewJob{Type: "mail", Name: "welcome"})
	y.advance(time.Second)
	plain := y.enqueue(rota.NewJob{Type: "mail"})
	for _, one := range []struct {
		q    rota.JobQuery
		jobs []*rota.Job
	}{
		{rota.JobQuery{Name: "nightly"}, []*rota.Job{fired}},
		{rota.JobQuery{Name: "nightly", Schedule: "nightly", State: rota.StateFailed}, []*rota.Job{fired}},
		{rota.JobQuery{Name: "nightly", State: rota.StateQueued}, nil},
		{rota.JobQuery{Name: "welcome"}, []*rota.Job{named}},
		{rota.JobQuery{Name: "welcome", State: rota.StateQueued}, []*rota.Job{named}},
		{rota.JobQuery{Type: "mail", Unnamed: true}, []*rota.Job{plain, keyed}},
		{rota.JobQuery{UniqueKey: "order:4711"}, []*rota.Job{keyed}},
		{rota.JobQuery{UniqueKey: "order:4711", State: rota.StateQueued}, []*rota.Job{keyed}},
		{rota.JobQuery{UniqueKey: "order:4711", Type: "other"}, nil},
		{rota.JobQuery{UniqueKey: "order"}, nil},
		{rota.JobQuery{ScopeID: "7"}, []*rota.Job{keyed, fired}},
		{rota.JobQuery{ScopeKind: "tenant"}, []*rota.Job{fired}},
		{rota.JobQuery{ScopeKind: "user", ScopeID: "7"}, []*rota.Job{keyed}},
		{rota.JobQuery{ScopeKind: "global", ScopeID: "global"}, []*rota.Job{plain, named}},
		{rota.JobQuery{ErrorCode: "disk"}, []*rota.Job{fired}},
		{rota.JobQuery{ErrorCode: "disk", Dead: true}, []*rota.Job{fired}},
		{rota.JobQuery{ErrorCode: "Disk"}, nil},
		{rota.JobQuery{Text: "disk full"}, []*rota.Job{fired}},
		{rota.JobQuery{Text: "100%"}, []*rota.Job{fired}},
		{rota.JobQuery{Text: "disk_full"}, nil},
		{rota.JobQuery{Text: "100%x"}, nil},
		{rota.JobQuery{Text: "NIGHT"}, []*rota.Job{fired}},
		{rota.JobQuery{Text: "ORDER:47"}, []*rota.Job{keyed}},
		{rota.JobQuery{Text: "elco", State: rota.StateQueued}, []*rota.Job{named}},
		{rota.JobQuery{Text: "Mai"}, []*rota.Job{plain, named, keyed, fired}},
		{rota.JobQuery{Since: before}, []*rota.Job{plain, named, keyed}},
		{rota.JobQuery{Since: before.Add(1)}, []*rota.Job{plain}},
		{rota.JobQuery{Until: before}, []*rota.Job{fired}},
		{rota.JobQuery{Until: before.Add(1)}, []*rota.Job{named, keyed, fired}},
		{rota.JobQuery{Since: before, Until: y.now, State: rota.StateQueued}, []*rota.Job{named, keyed}},
		{rota.JobQuery{Since: before, Oldest: true, Lean: true}, []*rota.Job{keyed, named, plain}},
	} {
		y.wantFound(one.q, one.jobs...)
	}
}

func findExecutions(y *story) {
	first := y.running(rota.NewJob{Type: "mail", Backoff: ptr(time.Hour)})
	start := y.now
	y.advance(time.Minute)
	y.mustFinish(first, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "The Relay said no", ErrorCode: "relay"})
	retry := y.lastAttempt(first.ID)
	y.advance(time.Minute)
	cancelled := y.running(rota.NewJob{Type: "mail", Backoff: ptr(time.Hour)})
	y.mustFinish(cancelled, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "busy relay", ErrorCode: "relay"})
	y.cancel(cancelled.ID)
	late := y.lastAttempt(cancelled.ID)
	execution := rota.JobQuery{Tails: true, OfExecution: true}
	with := func(change func(*rota.JobQuery)) rota.JobQuery {
		q := execution
		change(&q)
		return q
	}
	y.wantFound(rota.JobQuery{Tails: true, ErrorCode: "relay"})
	y.wantFound(with(func(q *rota.JobQuery) { q.ErrorCode = "relay" }), late, retry)
	y.wantFound(with(func(q *rota.JobQuery) { q.ErrorCode, q.State = "relay", rota.StateScheduled }), retry)
	y.wantFound(with(func(q *rota.JobQuery) { q.ErrorCode, q.State = "relay", rota.StateCancelled }), late)
	y.wantFound(with(func(q *rota.JobQuery) { q.ErrorCode, q.State = "relay", rota.StateFailed }))
	y.wantFound(with(func(q *rota.JobQuery) { q.Text = "relay SAID" }), retry)
	y.wantFound(with(func(q *rota.JobQuery) { q.Until = start.Add(1) }), retry)
	y.wantFound(rota.JobQuery{Tails: true, Until: start.Add(1)})
	y.wantFound(with(func(q *rota.JobQuery) { q.Since = start.Add(1) }), late)
}

// findBounded has more jobs than a page examines, and more queued jobs than a search sorts.
func findBounded(y *story) {
	old := y.enqueue(rota.NewJob{Type: "mail", UniqueKey: "needle"})
	do[*rota.Enqueued](y, y.enqueueCommand(make([]rota.NewJob, 5_200)...))
	recent := y.enqueue(rota.NewJob{Type: "mail", Name: "needles"})
	least := 2
	if _, is := y.s.(*model.Model); is {
		least = 1 // the model examines all jobs for each page
	}
	for _, q := range []rota.JobQuery{{Text: "NEEDLE"}, {Text: "needle", State: rota.StateQueued}, {Text: "needle", Oldest: true}} {
		found, pages := y.found(q)
		if len(found) != 2 || pages < least || pages > 5 {
			y.Errorf("%+v: %d pages have %v; %s and %s match", q, pages, found, old.ID, recent.ID)
		}
	}
	_, pages := y.found(rota.JobQuery{UniqueKey: "needle", Text: "needle"})
	want(y, "pages of a search by key", pages, 1)
}

func findRefused(y *story) {
	long := strings.Repeat("x", rota.KeyMax+1)
	for field, q := range map[string]rota.JobQuery{
		"status": {Status: "queued"}, "name": {Name: "two words"}, "unique_key": {UniqueKey: long}, "scope_kind": {ScopeKind: long},
		"scope_id": {ScopeID: "\xff"}, "error_code": {ErrorCode: "\x00"}, "q": {Text: long}, "limit": {Limit: rota.PageMax + 1},
	} {
		_, err := y.s.FindJobs(y.ctx, q)
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != field {
			y.Errorf("%s: %v", field, err)
		}
	}
}
