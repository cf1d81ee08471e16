package rota

import (
	"encoding/json"
	"time"
)

// Fire creates the jobs that a schedule owes and advances its next fire; PlanFire
// builds the command. Fire changes nothing if the schedule has changed since it was
// read, so of two processes that fire the same times, one succeeds.
type Fire struct {
	Meta     `wire:"1"`
	Schedule string     `wire:"2"`
	Version  ID         `wire:"3"` // version of the schedule as it was read
	Expect   time.Time  `wire:"4"` // NextFire of the schedule as it was read
	Times    []FireTime `wire:"5"` // times to fire, oldest first; empty: only advance the next fire
	Next     time.Time  `wire:"6"` // next fire after these times; zero: none
	CatchUp  bool       `wire:"7"` // the times were missed: their executions run one after another unless overlap is allow
	Missed   time.Time  `wire:"8"` // first of the times that catch-up gives up; zero: none
}

// FireTime is one planned time. From and Until are for schedules with dependencies:
// the executions of a dependency count from From on, and the job waits for them until
// Until.
type FireTime struct {
	At    time.Time `wire:"1"`
	From  time.Time `wire:"2"`
	Until time.Time `wire:"3"`
}

// Trigger runs a schedule now, once for each of its scopes, in any state. It obeys
// the overlap policy and ignores dependencies. The next fire does not change.
type Trigger struct {
	Meta     `wire:"1"`
	Schedule string          `wire:"2"`
	Params   json.RawMessage `wire:"3"` // overlaid on the schedule's params
	Priority *int            `wire:"4"`
}

// Backfill runs a schedule for past times; PlanBackfill builds the command. It skips
// times that have been fired. The next fire does not change.
type Backfill struct {
	Meta     `wire:"1"`
	Schedule string     `wire:"2"`
	Times    []FireTime `wire:"3"` // oldest first
}

// Verb returns the kind of the command.
func (*Fire) Verb() Verb { return VerbFire }

// Verb returns the kind of the command.
func (*Trigger) Verb() Verb { return VerbTrigger }

// Verb returns the kind of the command.
func (*Backfill) Verb() Verb { return VerbBackfill }
