package rota

import (
	"encoding/json"
	"fmt"
	"time"
)

// LeaseRef identifies a lease by job and run, and proves it by the token.
type LeaseRef struct {
	JobID ID    `wire:"1"`
	RunID ID    `wire:"2"`
	Token Token `wire:"3"`
}

func (r *LeaseRef) validate() *Error {
	switch {
	case r.JobID.IsZero():
		return Invalidf("job_id", "is empty")
	case r.RunID.IsZero():
		return Invalidf("run_id", "is empty")
	case r.Token.IsZero():
		return Invalidf("lease_token", "is empty")
	}
	return nil
}

// Extend is the heartbeat of many leases. The reply says which runs were asked to
// stop. A lost lease changes nothing and gets LeaseLost; the other leases are
// extended.
//
// Extend also extends a reservation whose direct run has not started. A node can
// therefore reserve for the length of a lease and still wait for long. If the node
// dies, the reservation ends soon. Extend does not revive an ended reservation.
type Extend struct {
	Meta          `wire:"1"`
	Lease         time.Duration `wire:"2"` // counted from now, LeaseMin to LeaseMax
	Items         []ExtendItem  `wire:"3"` // may be empty if a reservation is given
	ReservationID ID            `wire:"4"` // zero: none

	// Grace is how long a remote worker may continue after its deadline or after a cancel; the
	// lease is lost then. Zero: no limit.
	Grace time.Duration `wire:"5"`
}

// Verb returns the kind of the command.
func (*Extend) Verb() Verb { return VerbExtend }

// Validate checks the lease and the items.
func (c *Extend) Validate() error {
	if err := first(checkDuration("lease", c.Lease, LeaseMin, LeaseMax), checkDuration("grace", c.Grace, 0, DelayMax)); err != nil {
		return err
	}
	if len(c.Items) == 0 && !c.ReservationID.IsZero() {
		return nil
	}
	return eachItem(c.Items, func(it *ExtendItem) *Error {
		return first(it.LeaseRef.validate(), checkJSON("progress", it.Progress, ProgressMax))
	})
}

func (c *Extend) weigh() (entries, bytes int) {
	for i := range c.Items {
		bytes += entryBytes + len(c.Items[i].Progress)
	}
	return len(c.Items), bytes
}

// ExtendItem is the heartbeat of one run.
type ExtendItem struct {
	LeaseRef `wire:"1"`
	Progress json.RawMessage `wire:"2"` // nil: unchanged
}

// Extended answers Extend, with one entry per item.
type Extended struct {
	Items []LeaseAnswer `wire:"1"`
}

func (*Extended) reply() {}

// LeaseAnswer is the state of one lease. Code is empty, or LeaseLost.
type LeaseAnswer struct {
	RunID      ID        `wire:"1"`
	Code       Code      `wire:"2"`
	StaleAfter time.Time `wire:"3"` // end of the lease
	Cancel     bool      `wire:"4"` // the run was asked to stop
	Reason     string    `wire:"5"` // reason of the request to stop
	Overdue    bool      `wire:"6"` // set by Extend: the run exceeds its timeout
}

// Note records progress, artifacts and the log path of runs. Artifacts may also be
// appended after the end of a run; progress and log path may not.
type Note struct {
	Meta  `wire:"1"`
	Items []NoteItem `wire:"2"`
}

// Verb returns the kind of the command.
func (*Note) Verb() Verb { return VerbNote }

// Validate checks the items.
func (c *Note) Validate() error {
	return eachItem(c.Items, func(it *NoteItem) *Error {
		return first(
			it.LeaseRef.validate(),
			checkJSON("progress", it.Progress, ProgressMax),
			checkPaths("artifacts", it.Artifacts),
			checkText("log_path", it.LogPath, PathMax),
		)
	})
}

func (c *Note) weigh() (entries, bytes int) {
	for i := range c.Items {
		it := &c.Items[i]
		bytes += entryBytes + len(it.Progress) + len(it.LogPath) + lengths(it.Artifacts)
		entries += 1 + len(it.Artifacts)
	}
	return entries, bytes
}

// NoteItem is the note of one run.
type NoteItem struct {
	LeaseRef  `wire:"1"`
	Progress  json.RawMessage `wire:"2"`
	Artifacts []string        `wire:"3"` // appended unless already listed
	LogPath   string          `wire:"4"` // written once
}

// Noted answers Note, with one entry per item.
type Noted struct {
	Items []LeaseAnswer `wire:"1"`
}

func (*Noted) reply() {}

// Claim dispatches the first ready jobs of the given types and leases them to the
// worker. Sent again after it took jobs, it returns those that are still open and
// takes no others, until the first of its jobs is pruned.
type Claim struct {
	Meta        `wire:"1"`
	Worker      string        `wire:"2"` // name of the worker; with an Incarnation the same at every start, for Recover
	Incarnation ID            `wire:"3"` // of the process, new at each start; zero: only Reap ends the runs of a worker that died
	Types       []string      `wire:"4"` // types the worker can run, 1 to TypesMax
	Limit       int           `wire:"5"` // maximum number of jobs, 1 to ClaimMax
	Lease       time.Duration `wire:"6"` // LeaseMin to LeaseMax; the worker extends it after a third of that time
	Seed        Token         `wire:"7"` // random, see NewToken; source of the lease tokens
}

// Verb returns the kind of the command.
func (*Claim) Verb() Verb { return VerbClaim }

// Validate requires a worker, types, a limit, a lease and a seed.
func (c *Claim) Validate() error {
	err := first(
		checkName("worker", c.Worker, true),
		asType(checkCount("types", len(c.Types), 1, TypesMax)),
		checkInt("limit", c.Limit, 1, ClaimMax),
		checkDuration("lease", c.Lease, LeaseMin, LeaseMax),
	)
	if err == nil && c.Seed.IsZero() {
		err = Invalidf("seed", "is empty; set it to a random token, see NewToken")
	}
	for i := 0; err == nil && i < len(c.Types); i++ {
		err = checkName(fmt.Sprintf("types[%d]", i), c.Types[i], true)
	}
	return asError(err)
}

// TokenFor returns the lease token that the claim gives a job. It cannot be computed
// from anything that other clients can see.
func (c *Claim) TokenFor(job ID) Token { return tokenFor(c.Seed, job) }

// Claimed answers Claim.
type Claimed struct {
	Jobs  []*Job    `wire:"1"` // in dispatch order, each with its run and token
	More  bool      `wire:"2"` // there may be further jobs that can start: claim again
	Next  time.Time `wire:"3"` // when an exhausted rate allows the next start; zero: no rate held jobs back
	Again bool      `wire:"4"` // the command was sent before and took jobs; Jobs are those that are still open
	Now   time.Time `wire:"5"` // the store's time; measure Next and the end of leases from it
}

func (*Claimed) reply() {}
