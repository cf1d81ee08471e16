package rota

import (
	"encoding/json"
	"fmt"
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

// Verb returns the kind of the command.
func (*Fire) Verb() Verb { return VerbFire }

// Validate checks the names and times.
func (c *Fire) Validate() error {
	if err := first(
		checkName("schedule", c.Schedule, true),
		checkID("version", c.Version),
		checkTime("expect", c.Expect),
		checkTime("next", c.Next),
		checkTime("missed", c.Missed),
	); err != nil {
		return err
	}
	if c.Expect.IsZero() {
		return Invalidf("expect", "is empty; only a schedule with a next fire can be fired")
	}
	if err := checkTimes(c.Times, 0, FireJobsMax); err != nil {
		return err
	}
	if n := len(c.Times); n > 0 && !c.Next.IsZero() && !c.Next.After(c.Times[n-1].At) {
		return Invalidf("next", "is not after the last of the times")
	}
	return nil
}

func (c *Fire) weigh() (entries, bytes int) { return 1 + len(c.Times), entryBytes + 64*len(c.Times) }

// JobID returns the id of the i-th job that the command creates, ordered by time, then
// by scope.
func (c *Fire) JobID(i int) ID { return jobID(c.ID, ID{}, i) }

// FireTime is one planned time. From and Until are for schedules with dependencies:
// the executions of a dependency count from From on, and the job waits for them until
// Until.
type FireTime struct {
	At    time.Time `wire:"1"`
	From  time.Time `wire:"2"`
	Until time.Time `wire:"3"`
}

// Fired answers Fire.
type Fired struct {
	ScheduleChanged bool   `wire:"1"` // the schedule has changed since it was read, and nothing was fired
	Jobs            []*Job `wire:"2"` // created jobs, including SKIPPED ones
	Known           int    `wire:"3"` // planned executions that existed already
	Disabled        string `wire:"4"` // why the schedule was disabled instead of fired; empty: it was not
}

func (*Fired) reply() {}

// Trigger runs a schedule now, once for each of its scopes, in any state. It obeys
// the overlap policy and ignores dependencies. The next fire does not change.
type Trigger struct {
	Meta     `wire:"1"`
	Schedule string          `wire:"2"`
	Params   json.RawMessage `wire:"3"` // overlaid on the schedule's params
	Priority *int            `wire:"4"`
	Version  *ID             `wire:"5"` // version the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*Trigger) Verb() Verb { return VerbTrigger }

// Validate checks the overrides.
func (c *Trigger) Validate() error {
	return asError(first(
		checkName("schedule", c.Schedule, true),
		checkObject("params", c.Params, ParamsMax),
		checkIntPtr("priority", c.Priority, PriorityMin, PriorityMax),
	))
}

func (c *Trigger) weigh() (entries, bytes int) { return 1, entryBytes + len(c.Params) }

// JobID returns the id of the job for the i-th scope.
func (c *Trigger) JobID(i int) ID { return jobID(c.ID, ID{}, i) }

// Triggered answers Trigger, with one job per scope.
type Triggered struct {
	Jobs []*Job `wire:"1"`
}

func (*Triggered) reply() {}

// Backfill runs a schedule for past times; PlanBackfill builds the command. It skips
// times that have been fired. The next fire does not change.
type Backfill struct {
	Meta     `wire:"1"`
	Schedule string     `wire:"2"`
	Times    []FireTime `wire:"3"` // oldest first
	Version  *ID        `wire:"4"` // version the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*Backfill) Verb() Verb { return VerbBackfill }

// Validate checks the names and times.
func (c *Backfill) Validate() error {
	if err := checkName("schedule", c.Schedule, true); err != nil {
		return err
	}
	return checkTimes(c.Times, 1, BackfillMax)
}

func (c *Backfill) weigh() (entries, bytes int) {
	return 1 + len(c.Times), entryBytes + 64*len(c.Times)
}

// JobID returns the id of the i-th job that the command creates, ordered by time, then
// by scope.
func (c *Backfill) JobID(i int) ID { return jobID(c.ID, ID{}, i) }

// Backfilled answers Backfill. Known counts planned executions that existed already.
type Backfilled struct {
	Jobs  []*Job `wire:"1"`
	Known int    `wire:"2"`
}

func (*Backfilled) reply() {}

func checkTimes(times []FireTime, low, high int) error {
	if err := checkCount("times", len(times), low, high); err != nil {
		return err
	}
	last := time.Time{}
	for i := range times {
		t, field := &times[i], fmt.Sprintf("times[%d]", i)
		if err := first(checkTime(field+".at", t.At), checkTime(field+".from", t.From), checkTime(field+".until", t.Until)); err != nil {
			return err
		}
		if t.At.IsZero() {
			return Invalidf(field+".at", "is empty")
		}
		if !t.At.After(last) {
			return Invalidf(field+".at", "is not after the previous time; list each time once, oldest first")
		}
		last = t.At
	}
	return nil
}
