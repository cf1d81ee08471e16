package rota

import (
	"encoding/json"
	"time"
)

// Finish closes runs with their outcomes. The same command creates the retry or the
// dead letter. For a run that is already closed with this token and outcome, Finish
// succeeds.
//
// A run that was asked to stop is recorded as CANCELLED unless it completed. If it timed
// out before it was asked, it is recorded as FAILED with CodeTimeout and not retried. A
// CANCELLED outcome without such a request is recorded too, and is retried only with
// CodeTimeout.
type Finish struct {
	Meta  `wire:"1"`
	Items []FinishItem `wire:"2"`

	// Grace is how long a remote worker may continue after its deadline or after a cancel; the
	// lease of a run that ended later is lost. Zero: no limit.
	Grace time.Duration `wire:"3"`

	// Sent is when the items were written, by the clock of this process. A store adds to EndedAgo
	// how long the command has waited since then: in a queue, for a connection, between two
	// attempts. It is not encoded. Zero: the command has not waited.
	Sent time.Time `wire:"-"`
}

// Verb returns the kind of the command.
func (*Finish) Verb() Verb { return VerbFinish }

// Waited returns how long the command has waited at a time of the clock of this process.
func (c *Finish) Waited(at time.Time) time.Duration {
	if c.Sent.IsZero() || at.IsZero() {
		return 0
	}
	return max(0, at.Sub(c.Sent))
}

// Validate checks the items.
func (c *Finish) Validate() error {
	if err := checkDuration("grace", c.Grace, 0, DelayMax); err != nil {
		return err
	}
	return eachItem(c.Items, func(it *FinishItem) *Error {
		return first(
			it.LeaseRef.validate(),
			checkOneOf("outcome", it.Outcome, OutcomeCompleted, OutcomeFailed, OutcomeSkipped, OutcomeCancelled),
			checkUTF8("error", it.Error),
			checkText("error_code", it.ErrorCode, KeyMax),
			it.validateCode(),
			checkJSON("result", it.Result, ResultMax),
			checkPaths("artifacts", it.Artifacts),
			checkText("log_path", it.LogPath, PathMax),
			checkTime("retry_at", it.RetryAt),
			checkDuration("ended_ago", it.EndedAgo, 0, DelayMax),
		)
	})
}

func (c *Finish) weigh() (entries, bytes int) {
	for i := range c.Items {
		it := &c.Items[i]
		bytes += entryBytes + len(it.Error) + len(it.Result) + len(it.LogPath) + lengths(it.Artifacts)
		entries += 1 + len(it.Artifacts)
	}
	return entries, bytes
}

// FinishItem is the end of one run, as its worker reports it.
type FinishItem struct {
	LeaseRef     `wire:"1"`
	Outcome      Outcome         `wire:"2"`
	ExitCode     *int            `wire:"3"`
	Error        string          `wire:"4"` // for people, in UTF-8; truncated to ErrorMax
	ErrorCode    string          `wire:"5"` // for programs: CodeTimeout, CodeShutdown, or your own
	RowsAffected *int64          `wire:"6"`
	Result       json.RawMessage `wire:"7"`
	Artifacts    []string        `wire:"8"`
	LogPath      string          `wire:"9"`
	Permanent    bool            `wire:"10"` // never retry this error
	RetryAt      time.Time       `wire:"11"` // retry then instead of after the backoff
	EndedAgo     time.Duration   `wire:"12"` // how long before Sent the handler ended, without Sent how long before Batch.Now; a run does not end before its start
}

// validateCode refuses the code that only the store writes.
func (it *FinishItem) validateCode() *Error {
	if it.ErrorCode == CodeLeaseExpired {
		return Invalidf("error_code", "%s is reserved: the store writes it when a lease expires", CodeLeaseExpired)
	}
	return nil
}

// Finished answers Finish, with one entry per item.
type Finished struct {
	Items []FinishAnswer `wire:"1"`
}

func (*Finished) reply() {}

// FinishAnswer is the result for one run. Code is empty if the outcome was recorded, or
// LeaseLost.
type FinishAnswer struct {
	RunID   ID        `wire:"1"`
	Code    Code      `wire:"2"`
	Outcome Outcome   `wire:"3"` // outcome as recorded: after a Cancel it is CANCELLED unless the run completed or had timed out before
	Sequel  Sequel    `wire:"4"`
	RetryID ID        `wire:"5"` // id of the retry; zero: none
	RetryAt time.Time `wire:"6"` // when the retry is due
}

// Reap fails the runs whose leases are stale. It also shortens leases that end too
// far in the future because the clock was set back. Send it as often as heartbeats:
// nothing else ends the runs of a worker that died.
type Reap struct {
	Meta        `wire:"1"`
	Incarnation ID  `wire:"2"` // of the sender, whose own runs Reap never fails; zero: fail all stale runs
	Limit       int `wire:"3"` // maximum number of runs; 0: SweepMax

	// Grace is how long a remote worker may continue after its deadline or after a cancel; Reap
	// ends the run then, even if its lease is held. Zero: no limit.
	Grace time.Duration `wire:"4"`

	// KeepStale makes Reap end only runs after the grace. Workers that could not reach the sender
	// for a while get time to extend their leases.
	KeepStale bool `wire:"5"`
}

// Verb returns the kind of the command.
func (*Reap) Verb() Verb { return VerbReap }

// Validate checks the limit and the grace.
func (c *Reap) Validate() error {
	return asError(first(checkInt("limit", c.Limit, 0, SweepMax), checkDuration("grace", c.Grace, 0, DelayMax)))
}

// Reaped answers Reap. More means that there are further stale runs.
type Reaped struct {
	Jobs []Settlement `wire:"1"`
	More bool         `wire:"2"`
}

func (*Reaped) reply() {}

// Recover cleans up what an earlier incarnation of a process left open. It follows the
// recovery matrix and touches no lease of another process. Send it at the start of a
// process, before the first Claim, until the reply has no More.
//
// It fails only open runs of the same Runner with another, non-zero Incarnation. Reap
// handles the runs of other runners and of workers without an Incarnation.
type Recover struct {
	Meta        `wire:"1"`
	Runner      string `wire:"2"` // Worker of the claims, the same at every start
	Incarnation ID     `wire:"3"` // incarnation that starts now, from NewID; not zero
	Limit       int    `wire:"4"` // maximum number of jobs; 0: SweepMax
}

// Verb returns the kind of the command.
func (*Recover) Verb() Verb { return VerbRecover }

// Validate requires a runner and an incarnation.
func (c *Recover) Validate() error {
	return asError(first(
		checkName("runner", c.Runner, true),
		checkID("incarnation", c.Incarnation),
		checkInt("limit", c.Limit, 0, SweepMax),
	))
}

// Recovered answers Recover. More means that there are further jobs. Reservation is the
// reservation of the earlier incarnation that was expired.
type Recovered struct {
	Jobs        []Settlement `wire:"1"`
	Reservation ID           `wire:"2"`
	More        bool         `wire:"3"`
}

func (*Recovered) reply() {}

// Settlement is what Reap or Recover did with one job.
type Settlement struct {
	JobID   ID       `wire:"1"`
	Act     Settling `wire:"2"`
	Outcome Outcome  `wire:"3"`
	Sequel  Sequel   `wire:"4"`
	RetryID ID       `wire:"5"`
}

// Settling is the action of a Settlement.
type Settling string

// The actions. All but the last three are rows of the recovery matrix.
const (
	SettledRunMade    Settling = "run_made"    // a RUNNING job had no run: a FAILED run was created
	SettledRunFailed  Settling = "run_failed"  // the open run was failed
	SettledJobClosed  Settling = "job_closed"  // the run had ended: the job was closed
	SettledRetryMade  Settling = "retry_made"  // the job had failed and its retry was missing
	SettledLeasePull  Settling = "lease_pull"  // the lease ended too far in the future and was shortened
	SettledRunExpired Settling = "run_expired" // the lease was stale
	SettledRunStopped Settling = "run_stopped" // a remote worker did not stop after a cancel or a timeout
)
