package rota

import "time"

// Expire ends what has waited too long: jobs whose dependencies did not complete
// in time are recorded as SKIPPED, and the active reservation is given up when
// its time is over. Send it when NextDue says so.
type Expire struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"` // at most so many jobs; 0: SweepMax
}

// Sweep carries out, a page at a time, what other commands decided for more rows
// than they could touch.
type Sweep struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"` // at most so many rows; 0: SweepMax
}

// Prune removes whole executions that have ended, with their runs. Prunable says
// which. One that has not ended, or ended too late, is kept, and so is one that
// tries another anew which is still there. Reservations that ended a while ago
// (ReservationKeep) go with them.
type Prune struct {
	Meta       `wire:"1"`
	Executions []ID      `wire:"2"` // at most PruneMax
	Before     time.Time `wire:"3"` // only what ended before this; zero: whenever it ended
}

// Redrive tries an execution anew that died, was cancelled or was skipped: as a
// fresh job with the same params. One that was redriven is not redriven again,
// unless that was cancelled.
type Redrive struct {
	Meta  `wire:"1"`
	JobID ID `wire:"2"` // any attempt of it
}

// Verb names the command.
func (*Expire) Verb() Verb { return VerbExpire }

// Verb names the command.
func (*Sweep) Verb() Verb { return VerbSweep }

// Verb names the command.
func (*Prune) Verb() Verb { return VerbPrune }

// Verb names the command.
func (*Redrive) Verb() Verb { return VerbRedrive }
