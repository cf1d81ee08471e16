package rota

import "time"

// Result is the answer to one command: a Reply, or the reason why it was
// refused and changed nothing.
type Result struct {
	Reply Reply
	Err   *Error
}

// Reply is what a command that was applied answers. The set is closed: one
// type per verb.
type Reply interface{ reply() }

// Enqueued answers Enqueue, one entry per job asked for.
type Enqueued struct{ Jobs []Submitted }

// Submitted is one job as it stands. Duplicate says that its unique or plan
// key was taken, and Job is the one that holds it; when the command is sent
// again after that one is gone, Job is nil.
type Submitted struct {
	Job       *Job
	Duplicate bool
}

// Readied answers Ready. More says that further jobs are due already.
type Readied struct {
	Count int
	More  bool
}

// Claimed answers Claim, in dispatch order. Each job carries its run, and the
// run its token. More says that jobs were put aside that may not start, so that
// others behind them can be claimed now; Next is when a rate that holds jobs
// back has room again. Again says that the command took jobs when it was sent
// before: those that are still open are answered, and as long as all of them are
// kept it never takes others.
// Now is what time it was for the store: whoever waits for Next, or for the end
// of a lease, waits for as long as that is after it.
type Claimed struct {
	Jobs  []*Job
	More  bool
	Next  time.Time
	Again bool
	Now   time.Time
}

// Extended answers Extend, one entry per item.
type Extended struct{ Items []LeaseAnswer }

// Noted answers Note, one entry per item.
type Noted struct{ Items []LeaseAnswer }

// LeaseAnswer is how one lease stands. Code is empty when all is well, else
// LeaseLost.
type LeaseAnswer struct {
	RunID      ID
	Code       Code
	StaleAfter time.Time // when the lease ends, unless it is extended
	Cancel     bool      // somebody asked it to stop
	Reason     string    // why they did
	Overdue    bool      // told by Extend: it has run longer than its policy allows
}

// Finished answers Finish, one entry per item.
type Finished struct{ Items []FinishAnswer }

// FinishAnswer is what came of one run. Code is empty when the outcome stands,
// else LeaseLost.
type FinishAnswer struct {
	RunID   ID
	Code    Code
	Outcome Outcome // as it was recorded: after a Cancel, CANCELLED unless it completed
	Sequel  Sequel
	RetryID ID        // the job that retries it
	RetryAt time.Time // and when that is due
}

// CancelledJob answers Cancel. Stopping says that it runs and was asked to
// stop; otherwise it is cancelled.
type CancelledJob struct {
	Job      *Job
	Stopping bool
}

// Edited answers Edit.
type Edited struct{ Job *Job }

// Moved answers Move.
type Moved struct{ Job *Job }

// Normalised answers Normalise. With More, Last is the After of the next page.
type Normalised struct {
	Count int
	Last  ID
	More  bool
}

// Reaped answers Reap. More says that there are further ones.
type Reaped struct {
	Jobs []Settlement
	More bool
}

// Recovered answers Recover. More says that there are further ones. Reservation
// is the one of the earlier life that was given up.
type Recovered struct {
	Jobs        []Settlement
	Reservation ID
	More        bool
}

// Settlement says what was done about a job that nobody looked after.
type Settlement struct {
	JobID   ID
	Act     Settling
	Outcome Outcome
	Sequel  Sequel
	RetryID ID
}

// Settling is what was done to settle a job.
type Settling string

// The acts of settling; those but the last two are rows of the recovery matrix.
const (
	SettledRunMade    Settling = "run_made"    // it ran without a run: a FAILED one was made
	SettledRunFailed  Settling = "run_failed"  // its open run was failed
	SettledJobClosed  Settling = "job_closed"  // its run had ended: the job was closed
	SettledRetryMade  Settling = "retry_made"  // it had failed and its retry was missing
	SettledLeasePull  Settling = "lease_pull"  // its lease reached too far into the future and was pulled in
	SettledRunExpired Settling = "run_expired" // its lease went stale
)

// AllDone answers All, one reply per member.
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
