package postgres

import (
	"bytes"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// The claim of unsent jobs is a fast path for a batch of enqueues and one claim, as an idle engine
// sends it. The plain way sends the inserts, reads and locks the heads of the type queues, and sends
// the updates that start the jobs.
//
// The fast path assumes that the only ready jobs of the claim's types are those that the
// transaction inserts. The first read of the transaction asks the server whether that is so; on the
// idle path the check before the writes does. The transaction then answers the claim's query for
// heads from its inserts, which are not sent yet, and inserts the jobs that start as running.
//
// If another job is ready, or if the claim was sent before or has limits, the transaction sends the
// inserts and takes the plain way. A job that another transaction enqueues after the first read is
// left to the next claim.

// unsentJobs are the jobs of an insert that is not sent yet.
type unsentJobs struct {
	jobs    []*rota.Job
	claimID rota.ID // claim that starts some of them

	asked   []string // types of which the first read looked for ready jobs; nil: it has not
	nothing bool     // it found none
}

// claimAfterEnqueues returns the claim of a batch of a few enqueues and one claim, nil of any other
// batch and if the fast path may not be used.
func (t *tx) claimAfterEnqueues() *rota.Claim {
	if t.pessimistic || !t.store.uses(UnsentClaim) {
		return nil
	}
	jobs, last := 0, len(t.commands)-1
	for _, c := range t.commands[:last] {
		enqueue, is := c.(*rota.Enqueue)
		if !is || enqueue == nil {
			return nil
		}
		jobs += len(enqueue.Jobs)
	}
	claim, is := t.commands[last].(*rota.Claim)
	if !is || jobs == 0 || jobs >= copyMin {
		return nil
	}
	return claim
}

// sqlAnythingElse checks whether a claim that follows enqueues may find anything but the new jobs,
// or is repeated.
const sqlAnythingElse = `
SELECT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $1) OR ` + someReady

// loadAnythingElse asks with the first read of a transaction whether its claim may find anything
// but the jobs of the enqueues.
func (t *tx) loadAnythingElse() []statement {
	claim := t.claimAfterEnqueues()
	if claim == nil || t.writer.unsent.asked != nil || t.assumed != nil {
		return nil
	}
	t.writer.unsent.asked = slices.DeleteFunc(slices.Clone(claim.Types), t.store.rowCache.knowsPaused)
	return []statement{{sql: sqlAnythingElse, params: []param{idParam(claim.ID), textsParam(t.writer.unsent.asked)}, eachRow: func(r row) error {
		t.writer.unsent.nothing = !r.Bool(0)
		t.store.idlePath.observeReady(t.writer.unsent.nothing)
		return nil
	}}}
}

// nothingElseReady reports whether a claim finds nothing but the unsent jobs, as read or assumed.
func (t *tx) nothingElseReady(n rules.Orders) bool {
	if t.assumed != nil {
		return t.assumeNothingReady(n)
	}
	return t.writer.unsent.nothing && !slices.ContainsFunc(n.Heads.Types, func(typ string) bool { return !slices.Contains(t.writer.unsent.asked, typ) })
}

// putUnsentHeads answers the query of a claim from the unsent jobs, and reports whether it may.
func (t *tx) putUnsentHeads(n rules.Orders, u *rules.UnitOfWork) bool {
	h := n.Heads
	if len(t.writer.unsent.jobs) == 0 || h == nil || n.ClaimedBefore == nil || !h.Unlimited() || !t.nothingElseReady(n) {
		return false
	}
	heads := slices.DeleteFunc(slices.Clone(t.writer.unsent.jobs), func(j *rota.Job) bool { return !j.Ready() || !slices.Contains(h.Types, j.Type) })
	slices.SortFunc(heads, storekit.DispatchOrder)
	size := 0
	for i, j := range heads {
		if size += len(j.Params); i == h.Limit || i > 0 && size > h.Bytes {
			break
		}
		head := *j
		head.Params = bytes.Clone(j.Params) // the caller may reuse the memory
		u.PutHead(&head)
	}
	return true
}

// holdBack keeps the new jobs of a step for the claim after it, and reports whether it does. It does
// not if stored jobs change as well, because they may become ready.
func (t *tx) holdBack(c *rules.Changes) bool {
	if !c.Claim.IsZero() || len(c.Jobs)+len(c.NewJobChanges)+len(c.RemovedJobs) > 0 || t.claimAfterEnqueues() == nil {
		return false
	}
	t.writer.unsent.jobs = c.NewJobs
	t.write(statement{late: func() statement {
		insert := t.insertStatement(t.writer.unsent.jobs, t.writer.unsent.claimID)
		t.writer.unsent.jobs = nil
		return insert
	}})
	return true
}

// startUnsent starts unsent jobs as a claim has decided, and returns the other changes.
func (t *tx) startUnsent(c *rules.Changes) (others []rules.JobChange) {
	if len(t.writer.unsent.jobs) == 0 {
		return c.Jobs
	}
	t.writer.unsent.claimID = c.Claim
	t.writer.unsent.jobs, others = withStarts(t.writer.unsent.jobs, c.Jobs)
	return others
}
