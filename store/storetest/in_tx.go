package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/rotajobs/rota"
)

// BeginTx begins a transaction of a caller on the database of a store. commit and rollback end it; after
// commit, rollback does nothing.
type BeginTx func(s rota.Store) (tx any, commit func() error, rollback func(), err error)

// InTx returns a harness whose stores apply each batch with ApplyTx in a transaction of its own, commit it,
// and wait until the store knows of the commit. The stories that pass with Apply pass with it too. A batch
// that ApplyTx refuses, such as a claim, is applied without a transaction of a caller.
func InTx(h Harness, begin BeginTx) Harness {
	of := func(s rota.Store) rota.Store { return s.(interface{ applied() rota.Store }).applied() }
	inner := h
	h.Open = func(t testing.TB) rota.Store {
		s := inner.Open(t)
		if chain, has := s.(rota.AuditChain); has {
			return struct {
				*inTxStore
				rota.AuditChain
			}{&inTxStore{s, begin}, chain}
		}
		return &inTxStore{s, begin}
	}
	h.Break = func(t testing.TB, s rota.Store, job rota.ID, how Breakage) { inner.Break(t, of(s), job, how) }
	if inner.Tamper != nil {
		h.Tamper = func(t testing.TB, s rota.Store) Tamper { return inner.Tamper(t, of(s)) }
	}
	h.Pause = nil // ApplyTx has no such point
	return h
}

// inTxStore applies each batch in a transaction of its own.
type inTxStore struct {
	rota.Store
	begin BeginTx
}

// applied returns the store that applies the batches.
func (s *inTxStore) applied() rota.Store { return s.Store }

// Apply applies a batch with ApplyTx. An error of ApplyTx must leave nothing of the batch behind.
func (s *inTxStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if slices.ContainsFunc(b.Commands, func(c rota.Command) bool { return !rota.IsNil(c) && !rota.AllowedInTx(c.Verb()) }) {
		return s.Store.Apply(ctx, b)
	}
	tx, commit, rollback, err := s.begin(s.Store)
	if err != nil {
		return nil, err
	}
	defer rollback()
	results, pending, err := s.Store.(rota.TxStore).ApplyTx(ctx, tx, b)
	if err != nil {
		return nil, err
	}
	if err := commit(); err != nil {
		return nil, err
	}
	<-pending.Done()
	if !pending.Committed() {
		return nil, fmt.Errorf("the transaction was committed, and the store took it for rolled back")
	}
	return results, nil
}
