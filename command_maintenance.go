package rota

import "time"

// Expire records jobs as SKIPPED whose dependencies did not complete in time, and
// expires the active reservation when its time is over. Send it at the time that
// NextDue returns.
type Expire struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"` // maximum number of jobs; 0: SweepMax
}

// Sweep executes intent records, one page per command: decisions of other commands for
// more rows than one command may touch.
type Sweep struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"` // maximum number of rows; 0: SweepMax
}

// Prune deletes whole executions that have ended, with their runs. Prunable lists
// them. Prune keeps an execution that has not ended, that ended too late, or that
// redrives an execution which still exists. It also deletes reservations that ended
// more than ReservationKeep ago.
type Prune struct {
	Meta       `wire:"1"`
	Executions []ID      `wire:"2"` // at most PruneMax
	Before     time.Time `wire:"3"` // only executions that ended before this time; zero: all
}

// Redrive runs an execution again that is dead, cancelled or skipped, as a new job
// with the same params. An execution can be redriven once, or again if the redrive
// was cancelled.
type Redrive struct {
	Meta  `wire:"1"`
	JobID ID `wire:"2"` // any attempt of the execution
}

// Verb returns the kind of the command.
func (*Expire) Verb() Verb { return VerbExpire }

// Verb returns the kind of the command.
func (*Sweep) Verb() Verb { return VerbSweep }

// Verb returns the kind of the command.
func (*Prune) Verb() Verb { return VerbPrune }

// Verb returns the kind of the command.
func (*Redrive) Verb() Verb { return VerbRedrive }
