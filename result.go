package rota

import "time"

// Result is the answer to one command: a Reply, or an error if the command was refused
// and changed nothing.
type Result struct {
	Reply Reply
	Err   *Error
}

// Reply is the answer of a command that was applied. The set is closed: one type per
// verb.
type Reply interface{ reply() }

// Enqueued answers Enqueue, with one entry per requested job.
type Enqueued struct{ Jobs []Submitted }

// Submitted is the result for one requested job. Duplicate means that the unique key or
// plan key was taken; Job is then the job that holds it. Job is nil if the command is
// sent again after that job was deleted.
type Submitted struct {
	Job       *Job
	Duplicate bool
}

// Readied answers Ready. More means that further jobs are due.
type Readied struct {
	Count int
	More  bool
}

// Claimed answers Claim.
type Claimed struct {
	Jobs  []*Job    // in dispatch order, each with its run and token
	More  bool      // there may be further jobs that can start: claim again
	Next  time.Time // when an exhausted rate allows the next start; zero: no rate held jobs back
	Again bool      // the command was sent before and took jobs; Jobs are those that are still open
	Now   time.Time // the store's time; measure Next and the end of leases from it
}

// Extended answers Extend, with one entry per item.
type Extended struct{ Items []LeaseAnswer }

// Noted answers Note, with one entry per item.
type Noted struct{ Items []LeaseAnswer }

// LeaseAnswer is the state of one lease. Code is empty, or LeaseLost.
type LeaseAnswer struct {
	RunID      ID
	Code       Code
	StaleAfter time.Time // end of the lease
	Cancel     bool      // the run was asked to stop
	Reason     string    // reason of the request to stop
	Overdue    bool      // set by Extend: the run exceeds its timeout
}

// Finished answers Finish, with one entry per item.
type Finished struct{ Items []FinishAnswer }

// FinishAnswer is the result for one run. Code is empty if the outcome was recorded, or
// LeaseLost.
type FinishAnswer struct {
	RunID   ID
	Code    Code
	Outcome Outcome // outcome as recorded: after a Cancel it is CANCELLED unless the run completed
	Sequel  Sequel
	RetryID ID        // id of the retry; zero: none
	RetryAt time.Time // when the retry is due
}

// CancelledJob answers Cancel. Stopping means that the job is running and was asked to
// stop; otherwise it is cancelled.
type CancelledJob struct {
	Job      *Job
	Stopping bool
}

// Edited answers Edit.
type Edited struct{ Job *Job }

// Moved answers Move.
type Moved struct{ Job *Job }

// Normalised answers Normalise. If More is set, Last is the After of the next page.
type Normalised struct {
	Count int
	Last  ID
	More  bool
}

// Reaped answers Reap. More means that there are further stale runs.
type Reaped struct {
	Jobs []Settlement
	More bool
}

// Recovered answers Recover. More means that there are further jobs. Reservation is the
// reservation of the earlier incarnation that was expired.
type Recovered struct {
	Jobs        []Settlement
	Reservation ID
	More        bool
}

// Settlement is what Reap or Recover did with one job.
type Settlement struct {
	JobID   ID
	Act     Settling
	Outcome Outcome
	Sequel  Sequel
	RetryID ID
}

// Settling is the action of a Settlement.
type Settling string

// The actions. All but the last two are rows of the recovery matrix.
const (
	SettledRunMade    Settling = "run_made"    // a RUNNING job had no run: a FAILED run was created
	SettledRunFailed  Settling = "run_failed"  // the open run was failed
	SettledJobClosed  Settling = "job_closed"  // the run had ended: the job was closed
	SettledRetryMade  Settling = "retry_made"  // the job had failed and its retry was missing
	SettledLeasePull  Settling = "lease_pull"  // the lease ended too far in the future and was shortened
	SettledRunExpired Settling = "run_expired" // the lease was stale
)

// AllDone answers All, with one reply per member.
type AllDone struct{ Replies []Reply }

func (*Enqueued) reply()     {}
func (*Readied) reply()      {}
func (*Claimed) reply()      {}
func (*Extended) reply()     {}
func (*Noted) reply()        {}
func (*Finished) reply()     {}
func (*CancelledJob) reply() {}
func (*Edited) reply()       {}
func (*Moved) reply()        {}
func (*Normalised) reply()   {}
func (*Reaped) reply()       {}
func (*Recovered) reply()    {}
func (*AllDone) reply()      {}
