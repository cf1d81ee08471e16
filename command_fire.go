package rota

import (
	"encoding/json"
	"time"
)

// Fire makes the jobs that a schedule owes and moves its calendar on; PlanFire
// makes one. It does so only if the schedule is as it was when the times were
// found: of two that fire the same, one does.
type Fire struct {
	Meta     `wire:"1"`
	Schedule string     `wire:"2"`
	Version  ID         `wire:"3"` // of the schedule as it was read
	Expect   time.Time  `wire:"4"` // its NextFire as it was read
	Times    []FireTime `wire:"5"` // what to fire, oldest first; none: only the calendar moves
	Next     time.Time  `wire:"6"` // its next fire after these; zero: none
	CatchUp  bool       `wire:"7"` // the times were missed: they run one behind the other unless overlap is allowed
	Missed   time.Time  `wire:"8"` // the first of the times that are given up; zero: none is
}

// FireTime is one planned time. From and Until matter to schedules with
// dependencies: what these need to have completed counts from From on, and is
// waited for until Until.
type FireTime struct {
	At    time.Time `wire:"1"`
	From  time.Time `wire:"2"`
	Until time.Time `wire:"3"`
}

// Trigger runs a schedule now, for each of its scopes, whatever its state. Its
// calendar is not touched, its overlap is obeyed, its dependencies are not.
type Trigger struct {
	Meta     `wire:"1"`
	Schedule string          `wire:"2"`
	Params   json.RawMessage `wire:"3"` // over those of the schedule
	Priority *int            `wire:"4"`
}

// Backfill runs a schedule for past times; PlanBackfill makes one. What was
// fired for them already is not fired again, and the calendar is not touched.
type Backfill struct {
	Meta     `wire:"1"`
	Schedule string     `wire:"2"`
	Times    []FireTime `wire:"3"` // oldest first
}

// Verb names the command.
func (*Fire) Verb() Verb { return VerbFire }

// Verb names the command.
func (*Trigger) Verb() Verb { return VerbTrigger }

// Verb names the command.
func (*Backfill) Verb() Verb { return VerbBackfill }
