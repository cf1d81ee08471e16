package dynamo

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
)

// An execution has the id of its item, which may be a UUID of any version. Prunable goes through the executions by the
// times in their ids, and so never comes to those whose time seems to be in the future.

// prunePage is how many executions one round examines.
const prunePage = 500

// prune removes executions of foreign items that exceed the retention. Each call examines the next ones.
func (p *poller) prune(ctx context.Context, now time.Time) error {
	ctx = logstore.Local(ctx)
	after := firstID(now.AddDate(0, 0, 1))
	if p.pruned.Compare(after) > 0 {
		after = p.pruned
	}
	page, err := p.log.replica.Jobs(ctx, rota.JobQuery{After: after, Oldest: true, Lean: true, Limit: prunePage})
	if err != nil {
		return err
	}
	var old []rota.ID
	p.pruned = rota.ID{}
	for n, j := range page {
		if n == prunePage-1 {
			p.pruned = j.ID
		}
		if !j.RetryOf.IsZero() {
			continue
		}
		attempts, err := p.log.replica.Execution(ctx, j.ID)
		if err != nil {
			return err
		}
		last := attempts[len(attempts)-1]
		if keep := p.retention.For(last); last.Ended() && keep.Age > 0 && last.FinishedAt.Before(now.Add(-keep.Age)) {
			old = append(old, j.ID)
		}
	}
	if len(old) == 0 {
		return nil
	}
	_, err = p.log.store.Apply(ctx, rota.Batch{Commands: []rota.Command{&rota.Prune{Meta: rota.NewMeta(foreignActor), Executions: old}}})
	return err
}

// firstID returns the smallest id of a time.
func firstID(at time.Time) (id rota.ID) {
	ms := uint64(at.UnixMilli())
	for n := range 6 {
		id[n] = byte(ms >> (8 * (5 - n)))
	}
	return id
}
