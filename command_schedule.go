package rota

import "time"

// PutSchedule declares a schedule; Declare builds the command. An unchanged
// declaration changes nothing, not even the next fire. A changed declaration keeps
// the state unless it sets one, and keeps the next fire unless the times changed.
type PutSchedule struct {
	Meta    `wire:"1"`
	Name    string        `wire:"2"`
	Mode    PutMode       `wire:"3"`
	Version *ID           `wire:"4"` // version the caller has read; nil: any
	Spec    ScheduleSpec  `wire:"5"`
	State   ScheduleState `wire:"6"` // empty: unchanged; ENABLED for a new schedule
	Anchor  time.Time     `wire:"7"` // start of an EVERY schedule without STARTS
	Next    time.Time     `wire:"8"` // first fire; zero: none
	// Recreate declares the schedule as if it had not existed. Schedules that
	// depend on it keep their dependency.
	Recreate bool `wire:"9"`
}

// Verb returns the kind of the command.
func (*PutSchedule) Verb() Verb { return VerbPutSchedule }

// Validate checks the specification, except the zone, which Declare checks, and the
// current time, which the store checks.
func (c *PutSchedule) Validate() error {
	err := first(checkNewName("name", c.Name), checkMode(c.Mode), c.Spec.validate(c.Name))
	if err == nil && c.State != "" {
		err = checkState(c.State)
	}
	return asError(first(err, checkRecreate("schedule", c.Recreate, c.Mode), checkTime("anchor", c.Anchor), checkTime("next", c.Next)))
}

func (c *PutSchedule) weigh() (entries, bytes int) {
	for _, scope := range c.Spec.Scopes {
		bytes += len(scope.Kind) + len(scope.ID)
	}
	n := 1 + len(c.Spec.Scopes) + len(c.Spec.DependsOn) + len(c.Spec.Partition.Shards)
	bytes += lengths(c.Spec.Partition.Shards) + len(c.Spec.Partition.Expression)
	return n, bytes + n*entryBytes + len(c.Spec.Params) + len(c.Spec.Description) + len(c.Spec.Cron)
}

// SwitchSchedule sets the state of a schedule; Enable builds the command that enables
// one. From PAUSED to ENABLED the schedule applies its catch-up policy. From DISABLED
// to ENABLED it starts at Next.
type SwitchSchedule struct {
	Meta  `wire:"1"`
	Name  string        `wire:"2"`
	State ScheduleState `wire:"3"`
	Next  time.Time     `wire:"4"` // with ENABLED: the next fire from now on; zero: none

	Version *ID `wire:"5"` // version the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*SwitchSchedule) Verb() Verb { return VerbSwitchSchedule }

// Validate checks the state. Only ENABLED takes a next fire.
func (c *SwitchSchedule) Validate() error {
	err := first(checkName("name", c.Name, true), checkState(c.State), checkTime("next", c.Next))
	if err == nil && c.State != ScheduleEnabled && !c.Next.IsZero() {
		err = Invalidf("next", "is given, but a schedule that is %s has no next fire", c.State)
	}
	return asError(err)
}

// SchedulePut answers PutSchedule and SwitchSchedule.
type SchedulePut struct {
	Schedule *Schedule `wire:"1"`
	Changed  bool      `wire:"2"`
}

func (*SchedulePut) reply() {}

// DeleteSchedule removes a schedule. Its jobs stay. Jobs that waited for them are
// evaluated again without the dependency.
type DeleteSchedule struct {
	Meta    `wire:"1"`
	Name    string `wire:"2"`
	Version *ID    `wire:"3"` // version the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*DeleteSchedule) Verb() Verb { return VerbDeleteSchedule }

// Validate requires a name.
func (c *DeleteSchedule) Validate() error { return asError(checkName("name", c.Name, true)) }

// ScheduleDeleted answers DeleteSchedule. Gone means that the schedule did not exist, as
// when the command is sent again.
type ScheduleDeleted struct {
	Gone bool `wire:"1"`
}

func (*ScheduleDeleted) reply() {}

// Drop removes a definition: a schedule, and the template of the same name unless
// another schedule uses it. It cancels queued jobs, asks running jobs to stop,
// archives the template and hides the history. All of this takes effect at once. A
// Sweep processes the rows that exceed the size of one command, and deletes the
// history.
type Drop struct {
	Meta        `wire:"1"`
	Name        string `wire:"2"` // name of the schedule
	Version     *ID    `wire:"3"` // version the caller has read; nil: any
	KeepHistory bool   `wire:"4"` // keep ended executions, and those that are still to end
	// Recreate keeps the schedule, its dependents and the template for a
	// PutTemplate and a PutSchedule with Recreate that follow in the same All.
	Recreate bool `wire:"5"`
}

// Verb returns the kind of the command.
func (*Drop) Verb() Verb { return VerbDrop }

// Validate requires a name.
func (c *Drop) Validate() error { return asError(checkName("name", c.Name, true)) }

// Dropped answers Drop. Gone means that the definition did not exist, as when the command
// is sent again. The counts are of this command; Sweep processes further rows.
type Dropped struct {
	Gone      bool `wire:"1"`
	Cancelled int  `wire:"2"` // queued jobs that were cancelled
	Stopping  int  `wire:"3"` // running jobs that were asked to stop
	Archived  bool `wire:"4"` // the template was archived
}

func (*Dropped) reply() {}

func checkState(state ScheduleState) *Error {
	return checkOneOf("state", state, ScheduleEnabled, ScheduleDisabled, SchedulePaused)
}
