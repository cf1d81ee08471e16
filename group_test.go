package rota

import (
	"slices"
	"testing"
	"time"
)

// tails are last attempts of executions in every state.
var tails = []struct {
	name  string
	job   Job
	count GroupTally
	keep  Keep // expected bound; zero: the execution has not ended
}{
	{"queued", Job{Status: StatusQueued, Attempt: 1}, GroupTally{Queued: 1}, Keep{}},
	{"held", Job{Status: StatusQueued, Attempt: 1, Hold: HoldGroup | HoldKey}, GroupTally{Queued: 1}, Keep{}},
	{"running", Job{Status: StatusRunning, Attempt: 1, Run: &Run{}}, GroupTally{Running: 1}, Keep{}},
	{"waiting for a retry", Job{Status: StatusQueued, Attempt: 2, Hold: HoldDelay}, GroupTally{Running: 1}, Keep{}},
	{"retried", Job{Status: StatusRunning, Attempt: 2, Run: &Run{}}, GroupTally{Running: 1}, Keep{}},
	{"completed", endedJob(OutcomeCompleted, SequelNone), GroupTally{Completed: 1}, keeps.Completed},
	{"skipped", endedJob(OutcomeSkipped, SequelNone), GroupTally{Skipped: 1}, keeps.Skipped},
	{"cancelled while it ran", endedJob(OutcomeCancelled, SequelNone), GroupTally{Cancelled: 1}, keeps.Cancelled},
	{"cancelled in the queue", Job{Status: StatusCancelled, Attempt: 1, Sequel: SequelNone, FinishedAt: sampleTime}, GroupTally{Cancelled: 1}, keeps.Cancelled},
	{"dead", endedJob(OutcomeFailed, SequelDead), GroupTally{Dead: 1}, keeps.Dead},
	{"dead of a timeout", endedJob(OutcomeCancelled, SequelDead), GroupTally{Dead: 1}, keeps.Dead},
}

func endedJob(o Outcome, s Sequel) Job {
	return Job{Status: StatusRunning, Attempt: 3, Sequel: s, FinishedAt: sampleTime, Run: &Run{Outcome: o}}
}

var keeps = Retention{Completed: Keep{Count: 1}, Skipped: Keep{Count: 2}, Cancelled: Keep{Count: 3}, Dead: Keep{Count: 4}}

func TestGroupTallyCountsEveryState(t *testing.T) {
	all, sum := GroupTally{}, GroupTally{}
	for _, test := range tails {
		got := GroupTally{}
		got.Count(&test.job)
		if got != test.count {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.count)
		}
		all.Count(&test.job)
		sum.Add(got)
	}
	if all != sum || all != (GroupTally{Queued: 2, Running: 3, Completed: 1, Dead: 2, Skipped: 1, Cancelled: 2}) {
		t.Errorf("counted %+v, added %+v", all, sum)
	}
}

func TestRetentionForOutcome(t *testing.T) {
	for _, test := range tails {
		if test.keep == (Keep{}) {
			continue
		}
		if got := keeps.For(&test.job); got != test.keep {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.keep)
		}
	}
}

func TestRetentionCountsReportsCountBounds(t *testing.T) {
	if r := DefaultRetention; r.Counts() || r.Dead.Age != 90*24*time.Hour || r.Completed.Age != 30*24*time.Hour {
		t.Errorf("the default is %+v", r)
	}
	for _, r := range []Retention{{Completed: Keep{Count: 1}}, {Skipped: Keep{Count: 1}}, {Cancelled: Keep{Count: 1}}, {Dead: Keep{Count: 1}}} {
		if !r.Counts() {
			t.Errorf("%+v bounds no count", r)
		}
	}
}

func TestGroupStatusIsDerived(t *testing.T) {
	for _, test := range []struct {
		tally GroupTally
		want  GroupStatus
	}{
		{GroupTally{Queued: 3}, GroupQueued},
		{GroupTally{Queued: 2, Running: 1}, GroupRunning},
		{GroupTally{Queued: 2, Completed: 1}, GroupRunning},
		{GroupTally{Running: 1, Dead: 2}, GroupRunning},
		{GroupTally{Queued: 1, Cancelled: 2}, GroupRunning},
		{GroupTally{Completed: 3}, GroupCompleted},
		{GroupTally{Cancelled: 3}, GroupCancelled},
		{GroupTally{Completed: 2, Dead: 1}, GroupPartial},
		{GroupTally{Completed: 2, Skipped: 1}, GroupPartial},
		{GroupTally{Cancelled: 2, Completed: 1}, GroupPartial},
		{GroupTally{Dead: 3}, GroupPartial},
		{GroupTally{Skipped: 3}, GroupPartial},
	} {
		g := Group{Size: 3, Tally: test.tally}
		if got := g.Status(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.tally, got, test.want)
		}
	}
	if one := (&Group{Size: 1, Tally: GroupTally{Running: 1}}).Status(); one != GroupRunning {
		t.Errorf("the only member runs: %s", one)
	}
}

// ReasonCodes must list every code in the order of declaration, because other packages
// check their tables against it.
func TestReasonCodesListsEveryCodeInOrder(t *testing.T) {
	var listed []string
	for _, code := range ReasonCodes {
		listed = append(listed, string(code))
	}
	if declared := declaredConstants(t, "explain.go", "ReasonCode"); !slices.Equal(listed, declared) {
		t.Errorf("declared are %v, listed are %v", declared, listed)
	}
	slices.Sort(listed)
	if len(slices.Compact(listed)) != len(ReasonCodes) || listed[0] == "" {
		t.Errorf("a code is listed twice or empty: %v", listed)
	}
}
