package sqlite

import (
	"context"
	"iter"

	"github.com/rotajobs/rota"
)

// Verify checks every invariant.
func (s *Store) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) {}
}

func (s *Store) verifyOpen(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) {}
}
