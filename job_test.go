package rota

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The table is that of docs/concepts.md.
func TestJobStateIsDerived(t *testing.T) {
	const other Hold = 1 << 7 // a hold that is not the delay
	run := func(o Outcome) *Run { return &Run{Outcome: o} }
	for _, test := range []struct {
		name         string
		job          Job
		want         State
		ready, ended bool
	}{
		{"in the order", Job{Status: StatusQueued}, StateQueued, true, false},
		{"not due", Job{Status: StatusQueued, Hold: HoldDelay}, StateScheduled, false, false},
		{"held", Job{Status: StatusQueued, Hold: other}, StateBlocked, false, false},
		{"held and not due", Job{Status: StatusQueued, Hold: other | HoldDelay}, StateScheduled, false, false},
		{"cancelled while queued", Job{Status: StatusCancelled, FinishedAt: sampleTime}, StateCancelled, false, true},
		{"cancelled before it was due", Job{Status: StatusCancelled, Hold: HoldDelay, FinishedAt: sampleTime}, StateCancelled, false, true},
		{"dispatched", Job{Status: StatusRunning, Run: run("")}, StateRunning, false, false},
		{"dispatched, run not loaded", Job{Status: StatusRunning}, StateRunning, false, false},
		{"completed", Job{Status: StatusRunning, FinishedAt: sampleTime, Run: run(OutcomeCompleted)}, StateCompleted, false, true},
		{"failed", Job{Status: StatusRunning, FinishedAt: sampleTime, Run: run(OutcomeFailed)}, StateFailed, false, true},
		{"skipped", Job{Status: StatusRunning, FinishedAt: sampleTime, Run: run(OutcomeSkipped)}, StateSkipped, false, true},
		{"cancelled while running", Job{Status: StatusRunning, FinishedAt: sampleTime, Run: run(OutcomeCancelled)}, StateCancelled, false, true},
	} {
		j := &test.job
		if j.State() != test.want || j.Ready() != test.ready || j.Ended() != test.ended {
			t.Errorf("%s: %s, ready %v, ended %v; want %s, %v, %v", test.name, j.State(), j.Ready(), j.Ended(), test.want, test.ready, test.ended)
		}
	}
}

func TestEveryOutcomeHasAState(t *testing.T) {
	for _, outcome := range declaredConstants(t, "run.go", "Outcome") {
		if outcomeStates[Outcome(outcome)] == "" {
			t.Errorf("%s has no state", outcome)
		}
	}
}

// The values come from small sets, so that ties are common.
func TestJobBeforeIsStrictTotalOrder(t *testing.T) {
	few := rapid.IntRange(0, 2)
	draw := rapid.Custom(func(t *rapid.T) *Job {
		return &Job{
			ID: sampleID(byte(few.Draw(t, "id"))), Priority: few.Draw(t, "priority"), Position: int64(few.Draw(t, "position")),
			CreatedAt: sampleTime.Add(time.Duration(few.Draw(t, "created"))),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := draw.Draw(t, "a"), draw.Draw(t, "b"), draw.Draw(t, "c")
		same := a.ID == b.ID && a.Priority == b.Priority && a.Position == b.Position && a.CreatedAt.Equal(b.CreatedAt)
		switch {
		case a.Before(a):
			t.Fatal("a job comes before itself")
		case a.Before(b) && b.Before(a):
			t.Fatal("two jobs come before one another")
		case !same && !a.Before(b) && !b.Before(a):
			t.Fatal("two jobs have no order")
		case a.Before(b) && b.Before(c) && !a.Before(c):
			t.Fatal("the order is not transitive")
		}
	})
}

func TestJobBeforeComparesKeysInOrder(t *testing.T) {
	base := Job{ID: sampleID(5), Priority: 5, Position: 500, CreatedAt: sampleTime}
	for name, change := range map[string]func(*Job){
		"a higher priority beats all": func(j *Job) {
			j.Priority, j.Position, j.CreatedAt, j.ID = 6, 900, sampleTime.Add(time.Hour), sampleID(9)
		},
		"then a lower position": func(j *Job) { j.Position, j.CreatedAt, j.ID = -100, sampleTime.Add(time.Hour), sampleID(9) },
		"then the older":        func(j *Job) { j.CreatedAt, j.ID = sampleTime.Add(-1), sampleID(9) },
		"then the smaller id":   func(j *Job) { j.ID = sampleID(4) },
	} {
		first := base
		change(&first)
		if !first.Before(&base) || base.Before(&first) {
			t.Errorf("%s: it does not", name)
		}
	}
}

func TestJobDefinitionName(t *testing.T) {
	j := Job{ID: sampleID(2), ExecutionID: sampleID(1), Type: "mail.send"}
	if j.DefinitionName() != "mail.send" || j.IdempotencyKey() != sampleID(1).String() {
		t.Errorf("got %s, %s", j.DefinitionName(), j.IdempotencyKey())
	}
	j.Name = "newsletter"
	if j.DefinitionName() != "newsletter" {
		t.Errorf("got %s", j.DefinitionName())
	}
}

func TestRunIsOpenUntilItsOutcome(t *testing.T) {
	if !(&Run{}).Open() || (&Run{Outcome: OutcomeSkipped}).Open() {
		t.Error("an outcome closes a run, and nothing else does")
	}
}
