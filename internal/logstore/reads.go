package logstore

import (
	"context"

	"github.com/rotajobs/rota"
)

// A read shows every commit before it, of any process, so the replica catches up first. What the
// engine asks all the time reads the replica as it is: the answer is a hint there, and the command that
// follows is decided by the log.

type localKey struct{}

// Local returns a context whose reads read the replica as it is.
func Local(ctx context.Context) context.Context { return context.WithValue(ctx, localKey{}, true) }

// CatchUp returns the function that a replica calls before each read.
func CatchUp(log func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if ctx.Value(localKey{}) != nil {
			return nil
		}
		return log(ctx)
	}
}

// NextDue returns the times of the next maintenance commands that the replica knows.
func (s *Store) NextDue(ctx context.Context) (rota.Due, error) { return s.Replica.NextDue(Local(ctx)) }

// DueSchedules lists the due schedules that the replica knows.
func (s *Store) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	return s.Replica.DueSchedules(Local(ctx), limit)
}

// Prunable lists the executions that the replica knows and that exceed the retention.
func (s *Store) Prunable(ctx context.Context, q rota.PruneQuery) (rota.PrunePage, error) {
	return s.Replica.Prunable(Local(ctx), q)
}
