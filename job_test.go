package rota_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// The table is that of docs/concepts.md.
func TestJobStateIsDerived(t *testing.T) {
	const other rota.Hold = 1 << 7 // a hold that is not the delay
	run := func(o rota.Outcome) *rota.Run { return &rota.Run{Outcome: o} }
	for _, test := range []struct {
		name         string
		job          rota.Job
		want         rota.State
		ready, ended bool
	}{
		{"in the order", rota.Job{Status: rota.StatusQueued}, rota.StateQueued, true, false},
		{"not due", rota.Job{Status: rota.StatusQueued, Hold: rota.HoldDelay}, rota.StateScheduled, false, false},
		{"held", rota.Job{Status: rota.StatusQueued, Hold: other}, rota.StateBlocked, false, false},
		{"held and not due", rota.Job{Status: rota.StatusQueued, Hold: other | rota.HoldDelay}, rota.StateScheduled, false, false},
		{"cancelled while queued", rota.Job{Status: rota.StatusCancelled, FinishedAt: samples.Time}, rota.StateCancelled, false, true},
		{"cancelled before it was due", rota.Job{Status: rota.StatusCancelled, Hold: rota.HoldDelay, FinishedAt: samples.Time}, rota.StateCancelled, false, true},
		{"dispatched", rota.Job{Status: rota.StatusRunning, Run: run("")}, rota.StateRunning, false, false},
		{"dispatched, run not loaded", rota.Job{Status: rota.StatusRunning}, rota.StateRunning, false, false},
		{"completed", rota.Job{Status: rota.StatusRunning, FinishedAt: samples.Time, Run: run(rota.OutcomeCompleted)}, rota.StateCompleted, false, true},
		{"failed", rota.Job{Status: rota.StatusRunning, FinishedAt: samples.Time, Run: run(rota.OutcomeFailed)}, rota.StateFailed, false, true},
		{"skipped", rota.Job{Status: rota.StatusRunning, FinishedAt: samples.Time, Run: run(rota.OutcomeSkipped)}, rota.StateSkipped, false, true},
		{"cancelled while running", rota.Job{Status: rota.StatusRunning, FinishedAt: samples.Time, Run: run(rota.OutcomeCancelled)}, rota.StateCancelled, false, true},
	} {
		j := &test.job
		if j.State() != test.want || j.Ready() != test.ready || j.Ended() != test.ended {
			t.Errorf("%s: %s, ready %v, ended %v; want %s, %v, %v", test.name, j.State(), j.Ready(), j.Ended(), test.want, test.ready, test.ended)
		}
	}
}

func TestEveryOutcomeHasAState(t *testing.T) {
	for _, outcome := range declaredConstants(t, "run.go", "Outcome") {
		if rota.OutcomeStates[rota.Outcome(outcome)] == "" {
			t.Errorf("%s has no state", outcome)
		}
	}
}

// The values come from small sets, so that ties are common.
func TestJobBeforeIsStrictTotalOrder(t *testing.T) {
	few := rapid.IntRange(0, 2)
	draw := rapid.Custom(func(t *rapid.T) *rota.Job {
		return &rota.Job{
			ID: samples.ID(byte(few.Draw(t, "id"))), Priority: few.Draw(t, "priority"), Position: int64(few.Draw(t, "position")),
			CreatedAt: samples.Time.Add(time.Duration(few.Draw(t, "created"))),
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
	base := rota.Job{ID: samples.ID(5), Priority: 5, Position: 500, CreatedAt: samples.Time}
	for name, change := range map[string]func(*rota.Job){
		"a higher priority beats all": func(j *rota.Job) {
			j.Priority, j.Position, j.CreatedAt, j.ID = 6, 900, samples.Time.Add(time.Hour), samples.ID(9)
		},
		"then a lower position": func(j *rota.Job) { j.Position, j.CreatedAt, j.ID = -100, samples.Time.Add(time.Hour), samples.ID(9) },
		"then the older":        func(j *rota.Job) { j.CreatedAt, j.ID = samples.Time.Add(-1), samples.ID(9) },
		"then the smaller id":   func(j *rota.Job) { j.ID = samples.ID(4) },
	} {
		first := base
		change(&first)
		if !first.Before(&base) || base.Before(&first) {
			t.Errorf("%s: it does not", name)
		}
	}
}

func TestJobDefinitionName(t *testing.T) {
	j := rota.Job{ID: samples.ID(2), ExecutionID: samples.ID(1), Type: "mail.send"}
	if j.DefinitionName() != "mail.send" || j.IdempotencyKey() != samples.ID(1).String() {
		t.Errorf("got %s, %s", j.DefinitionName(), j.IdempotencyKey())
	}
	j.Name = "newsletter"
	if j.DefinitionName() != "newsletter" {
		t.Errorf("got %s", j.DefinitionName())
	}
}

func TestRunIsOpenUntilItsOutcome(t *testing.T) {
	if !(&rota.Run{}).Open() || (&rota.Run{Outcome: rota.OutcomeSkipped}).Open() {
		t.Error("an outcome closes a run, and nothing else does")
	}
}
