package rota

import (
	"context"
	"iter"
	"time"
)

// Store holds jobs and applies commands to them. Implementations are safe for
// concurrent use and pass the suite in store/storetest.
type Store interface {
	// Apply applies a batch in order and answers one Result per command.
	//
	// A command is atomic with all its effects and durable when Apply returns.
	// A refused command has an Err in its Result, changes nothing and leaves
	// its neighbours alone. When Apply itself returns an error (Unavailable,
	// Internal, or the context's), part of the batch may have been applied;
	// sending the same batch again is harmless and settles it.
	Apply(ctx context.Context, b Batch) ([]Result, error)

	// Job returns a job with its run, or NotFound. The run's token is left
	// out: it belongs to the claimer alone.
	Job(ctx context.Context, id ID) (*Job, error)

	// Jobs lists jobs by id, newest first. A query that is wrong is Invalid.
	Jobs(ctx context.Context, q JobQuery) ([]*Job, error)

	// Queue lists QUEUED jobs without holds in dispatch order, after the job
	// with the given id, or from the head if it is zero. NotFound says that
	// the job named has left the queue.
	Queue(ctx context.Context, after ID, limit int) ([]*Job, error)

	// Execution lists the attempts of one execution, first to last. The id
	// may be any attempt's. NotFound if there is none.
	Execution(ctx context.Context, id ID) ([]*Job, error)

	// NextDue is the earliest run_at of a delayed job, zero if there is none.
	NextDue(ctx context.Context) (time.Time, error)

	// Audit lists the audit after the entry with the given number, in the
	// order in which it was written.
	Audit(ctx context.Context, after int64, limit int) ([]AuditEntry, error)

	// Verify checks every invariant and yields what breaks it. It may run
	// beside writers.
	Verify(ctx context.Context) iter.Seq2[Violation, error]

	// Limits states the largest atomic command of this store.
	Limits() Limits

	// Wake returns a channel that receives when jobs may have become ready or
	// NextDue may have come nearer, and a function that gives it back. It is a
	// hint: it may come for nothing, but none is missed while it is read.
	Wake() (<-chan struct{}, func())

	// Close waits for what is under way and closes the store.
	Close() error
}

// JobQuery picks jobs to list. Zero fields pick everything.
type JobQuery struct {
	Status Status
	Type   string
	Before ID  // jobs with a smaller id
	Limit  int // at most PageMax; 0 means 100
}

// Validate refuses what could only ever pick nothing.
func (q *JobQuery) Validate() error {
	err := first(checkName("type", q.Type, false), checkInt("limit", q.Limit, 0, PageMax))
	if err == nil && q.Status != "" {
		err = checkOneOf("status", q.Status, StatusQueued, StatusRunning, StatusCancelled)
	}
	return asError(err)
}

// Limits states the largest atomic command of a store.
type Limits struct {
	Jobs  int // jobs in one Enqueue
	Claim int // jobs in one Claim
	Items int // leases in one Extend, Note or Finish
}

// AuditEntry is one line of the append-only audit.
type AuditEntry struct {
	Seq    int64 // its number: entries are numbered as they are written, from 1
	ID     ID    // from the command and the job, so that a command is written down once
	At     time.Time
	Actor  string
	Act    string // such as JOB_CANCELLED
	JobID  ID
	Detail string
}

// The acts that are written to the audit.
const (
	AuditJobCancelled = "JOB_CANCELLED"
	AuditJobModified  = "JOB_MODIFIED"
	AuditJobRecovered = "JOB_RECOVERED"
)

// Violation is a row, or some rows, that break an invariant.
type Violation struct {
	Check  string // the name of the invariant
	Rows   []string
	Detail string
}
