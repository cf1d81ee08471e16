package rota

import (
	"context"
	"fmt"
)

// ApplyTx applies a batch in a transaction of the caller. It asks the first store in a
// chain of wrappers that is a TxStore; see there for the results and the errors. If there
// is none, the error is Invalid with the field tx. A wrapper passes on with it what it has
// checked, measured or counted.
func ApplyTx(ctx context.Context, s Store, tx any, b Batch) ([]Result, *PendingTx, error) {
	store, err := txStoreOf(s, tx)
	if err != nil {
		return nil, nil, err
	}
	return store.ApplyTx(ctx, tx, b)
}

// txStoreOf returns the store that can use the transaction of a caller.
func txStoreOf(s Store, tx any) (TxStore, error) {
	if tx == nil {
		return nil, &Error{Code: Invalid, Field: "tx", Reason: "is nil", Hint: "begin a transaction on the database of the store and pass it"}
	}
	store, is := StoreAs[TxStore](s)
	if !is {
		return nil, &Error{
			Code: Invalid, Field: "tx", Reason: fmt.Sprintf("cannot be used: the store %T applies nothing in a transaction of its caller", s),
			Hint: "open a store of package sqlite or postgres on the database of the transaction, or send the command after the commit",
		}
	}
	return store, nil
}

// doTx is Do in a transaction of the caller.
func doTx[R Reply](ctx context.Context, s Store, tx any, c Command) (none R, err error) {
	results, _, err := ApplyTx(ctx, s, tx, Batch{Commands: []Command{c}})
	if err != nil {
		return none, err
	}
	return replyOf[R](c, results[0])
}
