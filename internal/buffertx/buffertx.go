// Package buffertx gives tests a store with transactions of the caller that they control:
// a test decides when a transaction ends, and when the store finds that out.
//
// A transaction keeps its batches. To answer ApplyTx it applies them to a copy of the
// store. The commit applies them to the store itself. It locks no rows.
package buffertx

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
)

// Store is a store with transactions. Begin begins one.
type Store struct {
	rota.Store
	t    testing.TB
	open func(path string) (rota.Store, error)
}

// New returns a store with transactions in front of a store that can be copied, such as
// one of package sqlite. The function opens the copy.
func New(t testing.TB, store rota.Store, open func(path string) (rota.Store, error)) *Store {
	return &Store{Store: store, t: t, open: open}
}

// Unwrap returns the store that applies the batches.
func (s *Store) Unwrap() rota.Store { return s.Store }

// Tx is a transaction. A test uses it from one goroutine at a time.
type Tx struct {
	store   *Store
	mu      sync.Mutex
	batches []applied
	over    bool
}

// applied is a batch of a transaction.
type applied struct {
	batch   rota.Batch
	pending *rota.PendingTx
}

// Begin begins a transaction.
func (s *Store) Begin() *Tx { return &Tx{store: s} }

// ApplyTx applies a batch in a transaction of Begin.
func (s *Store) ApplyTx(ctx context.Context, tx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	own, is := tx.(*Tx)
	if !is {
		return nil, nil, rota.Invalidf("tx", "has the type %T; *buffertx.Tx is needed", tx)
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.over {
		return nil, nil, rota.Errorf(rota.Internal, "apply", "the transaction is over")
	}
	results, err := s.applyToCopy(ctx, own.batches, b)
	if err != nil {
		return nil, nil, err
	}
	pending := rota.NewPendingTx()
	own.batches = append(own.batches, applied{b, pending})
	return results, pending, nil
}

// applyToCopy applies a batch after others to a copy of the store, as it is now.
func (s *Store) applyToCopy(ctx context.Context, before []applied, b rota.Batch) ([]rota.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	source, is := rota.StoreAs[interface {
		Backup(ctx context.Context, path string, progress func(done, total int64)) error
	}](s.Store)
	if !is {
		return nil, fmt.Errorf("the store %T cannot be copied", s.Store)
	}
	path := filepath.Join(s.t.TempDir(), "copy.db")
	if err := source.Backup(ctx, path, nil); err != nil {
		return nil, err
	}
	scratch, err := s.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = scratch.Close() }()
	for _, one := range before {
		if _, err := scratch.Apply(ctx, one.batch); err != nil {
			return nil, err
		}
	}
	return scratch.Apply(ctx, b)
}

// Commit commits the transaction, and tells so the PendingTx of each of its batches.
func (tx *Tx) Commit() error {
	tell, err := tx.CommitUntold()
	if err == nil {
		tell()
	}
	return err
}

// CommitUntold commits the transaction. The store finds that out when the test calls the
// function.
func (tx *Tx) CommitUntold() (tell func(), err error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.over {
		return nil, rota.Errorf(rota.Internal, "commit", "the transaction is over")
	}
	tx.over = true
	for _, one := range tx.batches {
		if _, err := tx.store.Store.Apply(context.Background(), one.batch); err != nil {
			end(tx.batches, false)
			return nil, err
		}
	}
	return func() { end(tx.batches, true) }, nil
}

// Rollback ends the transaction without an effect. After the end it does nothing.
func (tx *Tx) Rollback() {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if !tx.over {
		tx.over = true
		end(tx.batches, false)
	}
}

// Savepoint returns a function that rolls back to this moment.
func (tx *Tx) Savepoint() (rollBack func()) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	n := len(tx.batches)
	return func() {
		tx.mu.Lock()
		defer tx.mu.Unlock()
		end(tx.batches[n:], false)
		tx.batches = tx.batches[:n]
	}
}

func end(batches []applied, committed bool) {
	for _, one := range batches {
		one.pending.End(committed)
	}
}
