package rota_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// tails are last attempts of executions in every state.
var tails = []struct {
	name  string
	job   rota.Job
	count rota.GroupTally
	keep  rota.Keep // expected bound; zero: the execution has not ended
}{
	{"queued", rota.Job{Status: rota.StatusQueued, Attempt: 1}, rota.GroupTally{Queued: 1}, rota.Keep{}},
	{"held", rota.Job{Status: rota.StatusQueued, Attempt: 1, Hold: rota.HoldGroup | rota.HoldKey}, rota.GroupTally{Queued: 1}, rota.Keep{}},
	{"running", rota.Job{Status: rota.StatusRunning, Attempt: 1, Run: &rota.Run{}}, rota.GroupTally{Running: 1}, rota.Keep{}},
	{"waiting for a retry", rota.Job{Status: rota.StatusQueued, Attempt: 2, Hold: rota.HoldDelay}, rota.GroupTally{Running: 1}, rota.Keep{}},
	{"retried", rota.Job{Status: rota.StatusRunning, Attempt: 2, Run: &rota.Run{}}, rota.GroupTally{Running: 1}, rota.Keep{}},
	{"completed", endedJob(rota.OutcomeCompleted, rota.SequelNone), rota.GroupTally{Completed: 1}, keeps.Completed},
	{"skipped", endedJob(rota.OutcomeSkipped, rota.SequelNone), rota.GroupTally{Skipped: 1}, keeps.Skipped},
	{"cancelled while it ran", endedJob(rota.OutcomeCancelled, rota.SequelNone), rota.GroupTally{Cancelled: 1}, keeps.Cancelled},
	{"cancelled in the queue", rota.Job{Status: rota.StatusCancelled, Attempt: 1, Sequel: rota.SequelNone, FinishedAt: samples.Time}, rota.GroupTally{Cancelled: 1}, keeps.Cancelled},
	{"dead", endedJob(rota.OutcomeFailed, rota.SequelDead), rota.GroupTally{Dead: 1}, keeps.Dead},
	{"dead of a timeout", endedJob(rota.OutcomeCancelled, rota.SequelDead), rota.GroupTally{Dead: 1}, keeps.Dead},
}

func endedJob(o rota.Outcome, s rota.Sequel) rota.Job {
	return rota.Job{Status: rota.StatusRunning, Attempt: 3, Sequel: s, FinishedAt: samples.Time, Run: &rota.Run{Outcome: o}}
}

var keeps = rota.Retention{Completed: rota.Keep{Count: 1}, Skipped: rota.Keep{Count: 2}, Cancelled: rota.Keep{Count: 3}, Dead: rota.Keep{Count: 4}}

func TestGroupTallyCountsEveryState(t *testing.T) {
	all, sum := rota.GroupTally{}, rota.GroupTally{}
	for _, test := range tails {
		got := rota.GroupTally{}
		got.Count(&test.job)
		if got != test.count {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.count)
		}
		all.Count(&test.job)
		sum.Add(got)
	}
	if all != sum || all != (rota.GroupTally{Queued: 2, Running: 3, Completed: 1, Dead: 2, Skipped: 1, Cancelled: 2}) {
		t.Errorf("counted %+v, added %+v", all, sum)
	}
}

func TestRetentionForOutcome(t *testing.T) {
	for _, test := range tails {
		if test.keep == (rota.Keep{}) {
			continue
		}
		if got := keeps.For(&test.job); got != test.keep {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.keep)
		}
	}
}

func TestRetentionCountsReportsCountBounds(t *testing.T) {
	if r := rota.DefaultRetention; r.Counts() || r.Dead.Age != 90*24*time.Hour || r.Completed.Age != 30*24*time.Hour {
		t.Errorf("the default is %+v", r)
	}
	for _, r := range []rota.Retention{{Completed: rota.Keep{Count: 1}}, {Skipped: rota.Keep{Count: 1}}, {Cancelled: rota.Keep{Count: 1}}, {Dead: rota.Keep{Count: 1}}} {
		if !r.Counts() {
			t.Errorf("%+v bounds no count", r)
		}
	}
}

func TestGroupStatusIsDerived(t *testing.T) {
	for _, test := range []struct {
		tally rota.GroupTally
		want  rota.GroupStatus
	}{
		{rota.GroupTally{Queued: 3}, rota.GroupQueued},
		{rota.GroupTally{Queued: 2, Running: 1}, rota.GroupRunning},
		{rota.GroupTally{Queued: 2, Completed: 1}, rota.GroupRunning},
		{rota.GroupTally{Running: 1, Dead: 2}, rota.GroupRunning},
		{rota.GroupTally{Queued: 1, Cancelled: 2}, rota.GroupRunning},
		{rota.GroupTally{Completed: 3}, rota.GroupCompleted},
		{rota.GroupTally{Cancelled: 3}, rota.GroupCancelled},
		{rota.GroupTally{Completed: 2, Dead: 1}, rota.GroupPartial},
		{rota.GroupTally{Completed: 2, Skipped: 1}, rota.GroupPartial},
		{rota.GroupTally{Cancelled: 2, Completed: 1}, rota.GroupPartial},
		{rota.GroupTally{Dead: 3}, rota.GroupPartial},
		{rota.GroupTally{Skipped: 3}, rota.GroupPartial},
	} {
		g := rota.Group{Size: 3, Tally: test.tally}
		if got := g.Status(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.tally, got, test.want)
		}
	}
	if one := (&rota.Group{Size: 1, Tally: rota.GroupTally{Running: 1}}).Status(); one != rota.GroupRunning {
		t.Errorf("the only member runs: %s", one)
	}
}

// ReasonCodes must list every code in the order of declaration, because other packages
// check their tables against it.
func TestReasonCodesListsEveryCodeInOrder(t *testing.T) {
	var listed []string
	for _, code := range rota.ReasonCodes {
		listed = append(listed, string(code))
	}
	if declared := declaredConstants(t, "explain.go", "ReasonCode"); !slices.Equal(listed, declared) {
		t.Errorf("declared are %v, listed are %v", declared, listed)
	}
	slices.Sort(listed)
	if len(slices.Compact(listed)) != len(rota.ReasonCodes) || listed[0] == "" {
		t.Errorf("a code is listed twice or empty: %v", listed)
	}
}
