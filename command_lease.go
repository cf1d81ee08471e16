package rota

import (
	"encoding/json"
	"time"
)

// Extend is the heartbeat of many leases at once, and brings back who was
// asked to stop. A lease that is lost changes nothing and is answered
// LeaseLost; its neighbours go on.
//
// It also keeps a reservation whose direct run has not started, so that one can
// be reserved for as short as a lease and yet wait for long: where its holder
// dies it is soon over. One that has ended stays so.
type Extend struct {
	Meta          `wire:"1"`
	Lease         time.Duration `wire:"2"` // from now on, LeaseMin to LeaseMax
	Items         []ExtendItem  `wire:"3"` // may be empty where a reservation is given
	ReservationID ID            `wire:"4"` // zero: none
}

// ExtendItem is one heartbeat.
type ExtendItem struct {
	LeaseRef `wire:"1"`
	Progress json.RawMessage `wire:"2"` // nil: unchanged
}

// Note writes down what a run has to show while it runs. Artifacts may still
// be appended when it has ended; the log's path and progress may not change
// then.
type Note struct {
	Meta  `wire:"1"`
	Items []NoteItem `wire:"2"`
}

// NoteItem is what one run has to show.
type NoteItem struct {
	LeaseRef  `wire:"1"`
	Progress  json.RawMessage `wire:"2"`
	Artifacts []string        `wire:"3"` // appended; those already there are not repeated
	LogPath   string          `wire:"4"` // written once
}

// Finish closes runs with their outcomes, and makes the retry or the dead
// letter in the same step. A run that is already closed with this token and
// outcome is answered as done.
//
// A run that was asked to stop is recorded as CANCELLED, whatever is reported,
// unless it completed. CANCELLED that nobody asked for is recorded too; it is
// retried only with the code CodeTimeout.
type Finish struct {
	Meta  `wire:"1"`
	Items []FinishItem `wire:"2"`
}

// FinishItem is the end of one run, as its worker tells it.
type FinishItem struct {
	LeaseRef     `wire:"1"`
	Outcome      Outcome         `wire:"2"`
	ExitCode     *int            `wire:"3"`
	Error        string          `wire:"4"` // for people, in UTF-8; cut to ErrorMax
	ErrorCode    string          `wire:"5"` // for programs: CodeTimeout, CodeShutdown, or your own
	RowsAffected *int64          `wire:"6"`
	Result       json.RawMessage `wire:"7"`
	Artifacts    []string        `wire:"8"`
	LogPath      string          `wire:"9"`
	Permanent    bool            `wire:"10"` // never retry this error
	RetryAt      time.Time       `wire:"11"` // retry then instead of after the backoff
}

// Reap fails the runs whose leases went stale, and pulls in leases that a
// clock set back has left too far ahead. Send it as often as you beat: nothing
// else ends the runs of a worker that never comes back.
type Reap struct {
	Meta        `wire:"1"`
	Incarnation ID  `wire:"2"` // the sender's own, whose runs it never fails, even if they hang; zero: fails all that are stale
	Limit       int `wire:"3"` // at most so many runs; 0: SweepMax
}

// Recover settles what an earlier life of a process left open: it follows the
// recovery matrix and touches no lease of another process. Send it at the
// start of a process until the answer has no More, before the first Claim.
//
// Of open runs it fails only those of the same Runner with another Life that
// is not zero. Those of other names, and of workers without a Life, are left
// to Reap.
type Recover struct {
	Meta        `wire:"1"`
	Runner      string `wire:"2"` // the Worker of the claims, the same at every start
	Incarnation ID     `wire:"3"` // the one that begins now, from NewID; not zero
	Limit       int    `wire:"4"` // at most so many jobs; 0: SweepMax
}

// Verb names the command.
func (*Extend) Verb() Verb { return VerbExtend }

// Verb names the command.
func (*Note) Verb() Verb { return VerbNote }

// Verb names the command.
func (*Finish) Verb() Verb { return VerbFinish }

// Verb names the command.
func (*Reap) Verb() Verb { return VerbReap }

// Verb names the command.
func (*Recover) Verb() Verb { return VerbRecover }
