package storekit

import "github.com/rotajobs/rota"

// CheckBatch refuses a batch that is too long.
func CheckBatch(b rota.Batch) error {
	if len(b.Commands) > rota.BatchMax {
		return rota.Invalidf("commands", "has %d entries; at most %d are allowed", len(b.Commands), rota.BatchMax)
	}
	return nil
}

// ApplyHalves applies a batch, or its halves if a constraint of the database refuses it, so that
// only the command that violates the constraint is refused.
func ApplyHalves(
	b rota.Batch, isConstraint func(error) bool, apply func(rota.Batch) ([]rota.Result, error),
) ([]rota.Result, error) {
	results, err := apply(b)
	switch {
	case !isConstraint(err):
		return results, err
	case len(b.Commands) == 1:
		return []rota.Result{{Err: err.(*rota.Error)}}, nil
	}
	half := len(b.Commands) / 2
	left, err := ApplyHalves(rota.Batch{Now: b.Now, Commands: b.Commands[:half]}, isConstraint, apply)
	if err != nil {
		return nil, err
	}
	right, err := ApplyHalves(rota.Batch{Now: b.Now, Commands: b.Commands[half:]}, isConstraint, apply)
	if err != nil {
		return nil, err
	}
	return append(left, right...), nil
}

// CheckTxBatch refuses a batch that a store does not apply in a transaction of the caller: one
// that is too long, or that has a command of the loops of an engine, which belong to no caller.
func CheckTxBatch(b rota.Batch) error {
	for _, c := range b.Commands {
		if rota.IsNil(c) {
			continue // the rules refuse it
		}
		if !rota.AllowedInTx(c.Verb()) {
			return rota.Invalidf("commands", "%s cannot be applied in a transaction of the caller; apply it by itself", c.Verb())
		}
	}
	return CheckBatch(b)
}
