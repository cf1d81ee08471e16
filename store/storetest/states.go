package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testStates(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"jobs are filtered by state", statesPicked},
		{"a state with a status that excludes it matches no job", statesStatus},
		{"a state filter works with pages and other filters", statesFilters},
		{"a query for tails lists only last attempts", statesTails},
		{"an unknown state is refused", statesUnknown},
		{"next due has the time of the store", dueHasTime},
	})
}

// jobsInEveryState creates a job in each state, oldest first.
func (y *story) jobsInEveryState() map[rota.State]*rota.Job {
	y.Helper()
	all := map[rota.State]*rota.Job{}
	all[rota.StateCompleted], all[rota.StateSkipped], all[rota.StateCancelled], all[rota.StateFailed] = y.endInEachWay()
	all[rota.StateRunning] = y.running(rota.NewJob{})
	all[rota.StateScheduled] = y.enqueue(rota.NewJob{Delay: time.Hour})
	group := y.enqueueGroup(rota.GroupSequential, "", rota.NewJob{}, rota.NewJob{})
	all[rota.StateQueued], all[rota.StateBlocked] = group.Jobs[0], group.Jobs[1]
	return all
}

func (y *story) listIDs(q rota.JobQuery) []rota.ID {
	y.Helper()
	jobs, err := y.s.Jobs(y.ctx, q)
	return idsOf(must(y, "jobs", jobs, err))
}

func statesPicked(y *story) {
	all := y.jobsInEveryState()
	for state, j := range all {
		want(y, "state", y.job(j.ID).State(), state)
		wantIDs(y, string(state), y.listIDs(rota.JobQuery{State: state}), j)
		wantIDs(y, string(state)+" of its type", y.listIDs(rota.JobQuery{State: state, Type: "mail"}), j)
		wantIDs(y, string(state)+" of another type", y.listIDs(rota.JobQuery{State: state, Type: "other"}))
		wantIDs(y, string(state)+" before it", y.listIDs(rota.JobQuery{State: state, Before: j.ID}))
	}
	run := y.running(rota.NewJob{Type: "mail", Priority: new(9)})
	y.cancel(run.ID)
	wantIDs(y, "running, and asked to stop", y.listIDs(rota.JobQuery{State: rota.StateRunning}), run, all[rota.StateRunning])
	y.mustFinish(run, rota.FinishItem{Outcome: rota.OutcomeFailed})
	wantIDs(y, "cancelled while it ran", y.listIDs(rota.JobQuery{State: rota.StateCancelled}), run, all[rota.StateCancelled])
	wantIDs(y, "dead and failed", y.listIDs(rota.JobQuery{State: rota.StateFailed, Dead: true}), all[rota.StateFailed])
	wantIDs(y, "dead and running", y.listIDs(rota.JobQuery{State: rota.StateRunning, Dead: true}))
}

func statesStatus(y *story) {
	for state, j := range y.jobsInEveryState() {
		for _, status := range []rota.Status{rota.StatusQueued, rota.StatusRunning, rota.StatusCancelled} {
			got := y.listIDs(rota.JobQuery{State: state, Status: status})
			if j.Status = y.job(j.ID).Status; j.Status == status {
				wantIDs(y, string(state), got, j)
			} else {
				wantIDs(y, string(state)+" beside "+string(status), got)
			}
		}
	}
}

func statesFilters(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.complete(y.claimHead(y.trigger("nightly")))
	fired, other := y.trigger("nightly"), y.trigger("nightly")
	plain := y.enqueueMany(3)
	held := y.enqueueGroup(rota.GroupSequential, "", rota.NewJob{}, rota.NewJob{Template: "report"}, rota.NewJob{Template: "report"})
	late := y.enqueue(rota.NewJob{Template: "report", Type: "mail", Delay: time.Hour})
	first, second, third := held.Jobs[0], held.Jobs[1], held.Jobs[2]
	for _, one := range []struct {
		q    rota.JobQuery
		jobs []*rota.Job
	}{
		{rota.JobQuery{State: rota.StateQueued, Schedule: "nightly"}, []*rota.Job{other, fired}},
		{rota.JobQuery{State: rota.StateCompleted, Schedule: "nightly", Limit: 5}, []*rota.Job{y.oldest("nightly")}},
		{rota.JobQuery{State: rota.StateRunning, Schedule: "nightly"}, nil},
		{rota.JobQuery{State: rota.StateQueued, Template: "report"}, []*rota.Job{other, fired}},
		{rota.JobQuery{State: rota.StateQueued, Limit: 2}, []*rota.Job{first, plain[2]}},
		{rota.JobQuery{State: rota.StateQueued, Limit: 2, Before: plain[2].ID}, []*rota.Job{plain[1], plain[0]}},
		{rota.JobQuery{State: rota.StateQueued, GroupID: held.Group.ID}, []*rota.Job{first}},
		{rota.JobQuery{State: rota.StateBlocked, GroupID: held.Group.ID}, []*rota.Job{third, second}},
		{rota.JobQuery{State: rota.StateBlocked, Template: "report", Limit: 1}, []*rota.Job{third}},
		{rota.JobQuery{State: rota.StateScheduled, Template: "report"}, []*rota.Job{late}},
		{rota.JobQuery{State: rota.StateScheduled, Template: "other"}, nil},
	} {
		wantIDs(y, string(one.q.State)+" "+one.q.Schedule+one.q.Template, y.listIDs(one.q), one.jobs...)
	}
}

// claimHead claims a job that must be the first of the queue.
func (y *story) claimHead(j *rota.Job) *rota.Job {
	y.Helper()
	claimed := y.claimOne()
	want(y, "claimed", claimed.ID, j.ID)
	return claimed
}

// oldest returns the first job of a schedule.
func (y *story) oldest(schedule string) *rota.Job {
	y.Helper()
	jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{Schedule: schedule})
	must(y, "jobs", jobs, err)
	return jobs[len(jobs)-1]
}

func statesTails(y *story) {
	first := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
	y.fail(first)
	second := y.claimOne()
	y.fail(second)
	third := y.claimOne()
	alone := y.enqueue(rota.NewJob{})
	wantIDs(y, "all", y.listIDs(rota.JobQuery{}), alone, third, second, first)
	wantIDs(y, "tails", y.listIDs(rota.JobQuery{Tails: true}), alone, third)
	wantIDs(y, "failed", y.listIDs(rota.JobQuery{State: rota.StateFailed}), second, first)
	wantIDs(y, "failed tails", y.listIDs(rota.JobQuery{State: rota.StateFailed, Tails: true}))
	wantIDs(y, "running tails", y.listIDs(rota.JobQuery{State: rota.StateRunning, Tails: true}), third)
	y.failPermanently(third)
	wantIDs(y, "the failure that is left", y.listIDs(rota.JobQuery{State: rota.StateFailed, Tails: true}), third)
}

func statesUnknown(y *story) {
	_, err := y.s.Jobs(y.ctx, rota.JobQuery{State: "done"})
	var refusal *rota.Error
	if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != "state" {
		y.Errorf("an unknown state: %v", err)
	}
}

func dueHasTime(y *story) {
	if now := y.due().Now; now.IsZero() || now.Location() != time.UTC {
		y.Errorf("next due has the time %s", now)
	}
}

// stateQueries returns the lists that are compared with the model.
func stateQueries(limit int) (all []rota.JobQuery) {
	for _, state := range []rota.State{
		rota.StateScheduled, rota.StateBlocked, rota.StateQueued, rota.StateRunning,
		rota.StateCompleted, rota.StateFailed, rota.StateSkipped, rota.StateCancelled,
	} {
		all = append(all,
			rota.JobQuery{State: state, Limit: limit}, rota.JobQuery{State: state, Type: "a", Limit: limit},
			rota.JobQuery{State: state, Template: "t", Limit: limit}, rota.JobQuery{State: state, Schedule: "x", Limit: limit},
			rota.JobQuery{State: state, Status: rota.StatusRunning, Tails: true, Limit: limit})
	}
	for _, q := range []rota.JobQuery{ // texts of names only: the model writes other errors
		{Tails: true},
		{Tails: true, Schedule: "y"},
		{Name: "n"},
		{Name: "x", State: rota.StateFailed},
		{Type: "a", Unnamed: true},
		{UniqueKey: "k"},
		{ScopeID: "tenant"},
		{ScopeKind: rota.GlobalScopeKind},
		{ErrorCode: "oops"},
		{Text: "TENA"},
		{Text: "K", State: rota.StateScheduled},
		{Tails: true, OfExecution: true, ErrorCode: "oops"},
		{Tails: true, OfExecution: true, Text: "ten"},
	} {
		q.Limit = limit
		all = append(all, q)
	}
	return all
}
