package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
)

// proposal is an entry on its way to a slot.
type proposal struct {
	entry  *logstore.Entry
	id     rota.ID
	body   []byte
	chunks int64
	stored int64 // chunks that are in the table under the id

	commands []rota.Command             // of the entry, as the caller gave them
	places   []int                      // of the commands of the entry in them; nil: all
	claims   map[itemKey]keyClaim       // unique keys that the entry takes, by their records
	held     map[rota.ID]rota.Submitted // jobs that are left out, and the jobs that hold their keys
	alone    map[string]bool            // job_sk of records that were seen without their items
	claimed  map[string]keyClaim        // what was written before the slot, by the sort keys of the items
	adopts   bool                       // the entry enqueues items of other programs, whose records exist
}

func newProposal(e logstore.Entry) *proposal {
	return &proposal{entry: &e, commands: e.Batch.Commands, held: map[rota.ID]rota.Submitted{}, alone: map[string]bool{}, claimed: map[string]keyClaim{}}
}

// propose encodes an entry for the next slot. The time that the log gives it is an attribute of the slot, so
// that a long body is written once and can take any slot.
func (l *commandLog) propose(ctx context.Context, p *proposal) (*slot, error) {
	now, err := l.timeOf(ctx, p)
	for err == nil && l.options.Layout && !p.adopts {
		if err = l.claimKeys(ctx, p, now); !errors.Is(err, errAdopted) {
			break
		}
		now, err = l.timeOf(ctx, p)
	}
	if err == nil && p.chunks == 0 {
		err = l.encode(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	at := l.replica.Applied()
	s := &slot{
		index: at.Index + 1, now: now, proposal: p.id, process: l.self,
		digest: at.Digest[:], rules: rota.RulesVersion, chunks: p.chunks,
		size: l.size + int64(len(p.body)),
	}
	if p.chunks == 0 {
		s.body = p.body
	}
	return s, nil
}

// timeOf returns the time of the next slot.
func (l *commandLog) timeOf(ctx context.Context, p *proposal) (now time.Time, err error) {
	if now = p.entry.Batch.Now; now.IsZero() {
		now, err = l.Now(ctx)
	}
	return now.UTC().Truncate(time.Microsecond), err
}

// isEmpty reports whether nothing is left to append.
func (p *proposal) isEmpty() bool {
	return len(p.commands) > 0 && len(p.entry.Batch.Commands) == 0 && len(p.entry.Shared) == 0
}

// encode encodes the entry with a new id. It writes a long body.
func (l *commandLog) encode(ctx context.Context, p *proposal) (err error) {
	l.removeBody(ctx, p)
	p.id = rota.NewID()
	if p.body, err = logstore.AppendEntry(nil, p.entry); err == nil && len(p.body) > inlineMax {
		p.chunks, err = l.table.putChunks(ctx, p.id.String(), p.body, time.Time{})
		p.stored = p.chunks
	}
	return err
}

// removeBody removes the chunks of a body that no slot refers to.
func (l *commandLog) removeBody(ctx context.Context, p *proposal) {
	if p.stored == 0 {
		return
	}
	if err := l.table.removeChunks(ctx, p.id.String(), p.stored); err != nil {
		l.logger.Debug("chunks that no slot refers to cannot be removed", "name", p.id, "error", err)
	}
	p.stored = 0
}

// lossWait is how long a process waits after it has lost some races in a row.
func lossWait(lost int) time.Duration {
	const first, most = 2 * time.Millisecond, 50 * time.Millisecond
	return rand.N(min(most, first<<min(lost, 10)))
}

// CheckLease refuses a lease that the clocks of the processes cannot keep.
func (l *commandLog) CheckLease(lease time.Duration) error {
	return l.options.CheckLease(lease)
}

// CheckLease refuses a lease that the clocks of the processes cannot keep.
func (o *Options) CheckLease(lease time.Duration) error {
	least := o.LeaseMin()
	if lease >= least {
		return nil
	}
	return &rota.Error{
		Code: rota.Invalid, Field: "lease", Reason: "is " + lease.String() + "; on DynamoDB a lease is at least 10 times the skew: " + least.String(),
		Hint: "use longer leases, or set a smaller skew in the URL of the store",
	}
}
