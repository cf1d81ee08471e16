package rota

import (
	"encoding/json"
	"time"
)

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
}

// ExtendItem is the heartbeat of one run.
type ExtendItem struct {
	LeaseRef `wire:"1"`
	Progress json.RawMessage `wire:"2"` // nil: unchanged
}

// Note records progress, artifacts and the log path of runs. Artifacts may also be
// appended after the end of a run; progress and log path may not.
type Note struct {
	Meta  `wire:"1"`
	Items []NoteItem `wire:"2"`
}

// NoteItem is the note of one run.
type NoteItem struct {
	LeaseRef  `wire:"1"`
	Progress  json.RawMessage `wire:"2"`
	Artifacts []string        `wire:"3"` // appended unless already listed
	LogPath   string          `wire:"4"` // written once
}

// Finish closes runs with their outcomes. The same command creates the retry or the
// dead letter. For a run that is already closed with this token and outcome, Finish
// succeeds.
//
// A run that was asked to stop is recorded as CANCELLED unless it completed. A
// CANCELLED outcome without such a request is recorded too, and is retried only with
// CodeTimeout.
type Finish struct {
	Meta  `wire:"1"`
	Items []FinishItem `wire:"2"`
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
}

// Reap fails the runs whose leases are stale. It also shortens leases that end too
// far in the future because the clock was set back. Send it as often as heartbeats:
// nothing else ends the runs of a worker that died.
type Reap struct {
	Meta        `wire:"1"`
	Incarnation ID  `wire:"2"` // of the sender, whose own runs Reap never fails; zero: fail all stale runs
	Limit       int `wire:"3"` // maximum number of runs; 0: SweepMax
}

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
func (*Extend) Verb() Verb { return VerbExtend }

// Verb returns the kind of the command.
func (*Note) Verb() Verb { return VerbNote }

// Verb returns the kind of the command.
func (*Finish) Verb() Verb { return VerbFinish }

// Verb returns the kind of the command.
func (*Reap) Verb() Verb { return VerbReap }

// Verb returns the kind of the command.
func (*Recover) Verb() Verb { return VerbRecover }
