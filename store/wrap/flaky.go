package wrap

import (
	"context"

	"github.com/rotajobs/rota"
)

// Fault decides what goes wrong with a batch. Before, an error keeps the
// batch from the store; after, it loses the answer of a batch that the store
// has applied. Nil functions let everything pass.
type Fault struct {
	Before func(rota.Batch) error
	After  func(rota.Batch, []rota.Result) error
}

// Flaky is a store that fails on purpose, for tests of those who must live
// with it: both ways of failing look the same to them.
func Flaky(store rota.Store, fault Fault) rota.Store {
	return &flaky{Store: store, fault: fault}
}

type flaky struct {
	rota.Store
	fault Fault
}

// Apply applies a batch unless the fault says otherwise.
func (f *flaky) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if f.fault.Before != nil {
		if err := f.fault.Before(b); err != nil {
			return nil, err
		}
	}
	results, err := f.Store.Apply(ctx, b)
	if err == nil && f.fault.After != nil {
		err = f.fault.After(b, results)
	}
	if err != nil {
		return nil, err
	}
	return results, nil
}
