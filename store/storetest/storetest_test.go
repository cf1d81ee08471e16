package storetest_test

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/storetest"
	"github.com/rotajobs/rota/store/storetest/model"
)

func TestMain(m *testing.M) {
	depth.Checks(10, 50, 1_000)
	m.Run()
}

// TestModel runs the suite on the model. Where the suite compares a store with the model, this
// shows that the model is deterministic.
func TestModel(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open:  func(testing.TB) rota.Store { return model.New(time.Now) },
		Break: breakModel,
	})
}

func breakModel(t testing.TB, s rota.Store, id rota.ID, how storetest.Breakage) {
	t.Helper()
	m := s.(*model.Model)
	removeRetry := func() {
		chain, err := m.Execution(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range chain {
			if j.RetryOf == id {
				m.Damage(j.ID, func(*rota.Job) *rota.Job { return nil })
			}
		}
	}
	switch how {
	case storetest.BreakRun:
		m.Damage(id, func(j *rota.Job) *rota.Job { j.Run = nil; return j })
	case storetest.BreakClose:
		removeRetry()
		m.Damage(id, func(j *rota.Job) *rota.Job { j.FinishedAt, j.Sequel = time.Time{}, ""; return j })
	case storetest.BreakRetry:
		removeRetry()
		m.Damage(id, func(j *rota.Job) *rota.Job { j.Sequel = ""; return j })
	case storetest.BreakSequel:
		m.Damage(id, func(j *rota.Job) *rota.Job { j.Sequel = ""; return j })
	case storetest.BreakJob:
		m.Damage(id, func(*rota.Job) *rota.Job { return nil })
	default:
		t.Fatalf("the model has no damage %q", how)
	}
}
