package rota

import (
	"encoding/json"
	"time"
)

// Extend is the heartbeat of many leases at once. A lease that is lost
// changes nothing and is answered LeaseLost; its neighbours go on.
type Extend struct {
	Meta  `wire:"1"`
	Lease time.Duration `wire:"2"`
	Items []ExtendItem  `wire:"3"`
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
type Finish struct {
	Meta  `wire:"1"`
	Items []FinishItem `wire:"2"`
}

// FinishItem is the end of one run, as its worker tells it.
type FinishItem struct {
	LeaseRef     `wire:"1"`
	Outcome      Outcome         `wire:"2"`
	ExitCode     *int            `wire:"3"`
	Error        string          `wire:"4"`
	ErrorCode    string          `wire:"5"`
	RowsAffected *int64          `wire:"6"`
	Result       json.RawMessage `wire:"7"`
	Artifacts    []string        `wire:"8"`
	LogPath      string          `wire:"9"`
	Permanent    bool            `wire:"10"` // never retry this error
	RetryAt      time.Time       `wire:"11"` // retry then instead of after the backoff
}

// Reap fails the runs whose leases went stale, at most Limit of them (0:
// SweepMax), and pulls in leases that a clock set back has left too far ahead.
type Reap struct {
	Meta  `wire:"1"`
	Life  ID  `wire:"2"` // the sender's own life, whose runs are never reaped by it
	Limit int `wire:"3"`
}

// Recover settles what an earlier life of a process left open: it follows the
// recovery matrix and touches no lease of another process.
type Recover struct {
	Meta   `wire:"1"`
	Runner string `wire:"2"`
	Life   ID     `wire:"3"` // the life that begins now
	Limit  int    `wire:"4"`
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
