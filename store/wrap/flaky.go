package wrap

import (
	"context"

	"github.com/rotajobs/rota"
)

// Fault decides how a batch fails. An error of Before keeps the batch from the store; an
// error of After loses the answer to a batch that the store has applied. Nil functions
// cause no fault.
type Fault struct {
	Before func(rota.Batch) error
	After  func(rota.Batch, []rota.Result) error
}

// Flaky is a store that fails on purpose, for tests of its callers: they cannot
// distinguish the two kinds of failure.
func Flaky(store rota.Store, fault Fault) rota.Store {
	return &flaky{Store: store, fault: fault}
}

type flaky struct {
	rota.Store
	fault Fault
}

// Unwrap returns the store that applies the batches.
func (f *flaky) Unwrap() rota.Store { return f.Store }

// Apply applies a batch, subject to the fault.
func (f *flaky) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	return f.apply(b, func() ([]rota.Result, error) { return f.Store.Apply(ctx, b) })
}

// ApplyTx applies a batch in a transaction of the caller, subject to the same fault. If the
// answer is lost, the transaction has the batch all the same.
func (f *flaky) ApplyTx(ctx context.Context, tx any, b rota.Batch) (results []rota.Result, pending *rota.PendingTx, err error) {
	results, err = f.apply(b, func() (answer []rota.Result, err error) {
		answer, pending, err = rota.ApplyTx(ctx, f.Store, tx, b)
		return answer, err
	})
	if err != nil {
		return nil, nil, err
	}
	return results, pending, nil
}

func (f *flaky) apply(b rota.Batch, apply func() ([]rota.Result, error)) ([]rota.Result, error) {
	if f.fault.Before != nil {
		if err := f.fault.Before(b); err != nil {
			return nil, err
		}
	}
	results, err := apply()
	if err == nil && f.fault.After != nil {
		err = f.fault.After(b, results)
	}
	if err != nil {
		return nil, err
	}
	return results, nil
}
