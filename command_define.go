package rota

import "time"

// PutMode is what a Put requires of an existing definition.
type PutMode string

// The modes. In every mode but create, a Put of an unchanged definition changes
// nothing.
const (
	PutAny     PutMode = ""        // create or replace
	PutCreate  PutMode = "create"  // refuse if it exists
	PutReplace PutMode = "replace" // refuse if it does not exist
)

// PutType declares a type. A paused type stays paused.
type PutType struct {
	Meta    `wire:"1"`
	Name    string   `wire:"2"`
	Mode    PutMode  `wire:"3"`
	Version *ID      `wire:"4"` // version the caller has read; nil: any
	Spec    TypeSpec `wire:"5"`
}

// SwitchType pauses or resumes a type. Jobs of a paused type are accepted but not
// started. Running jobs continue.
type SwitchType struct {
	Meta   `wire:"1"`
	Name   string `wire:"2"`
	Paused bool   `wire:"3"`
}

// PutTemplate declares a template. Existing jobs do not change. An archived template
// stays archived.
type PutTemplate struct {
	Meta    `wire:"1"`
	Name    string       `wire:"2"`
	Mode    PutMode      `wire:"3"`
	Version *ID          `wire:"4"` // version the caller has read; nil: any
	Spec    TemplateSpec `wire:"5"`
	// OnlySchedule refuses the command if a schedule with another name uses the
	// template, because the command would change that schedule too. Empty: any
	// schedule may use it.
	OnlySchedule string `wire:"6"`
}

// Archive ends the use of a template. Existing jobs do not change, new jobs are
// refused, and the schedules of the template are disabled.
type Archive struct {
	Meta `wire:"1"`
	Name string `wire:"2"`
}

// Unarchive allows new jobs of a template again. Its schedules stay disabled.
type Unarchive struct {
	Meta `wire:"1"`
	Name string `wire:"2"`
}

// PutThrottle replaces all limits on concurrency and rate. It takes effect at once.
// Running jobs continue.
type PutThrottle struct {
	Meta    `wire:"1"`
	Version *ID          `wire:"2"` // version the caller has read; nil: any
	Spec    ThrottleSpec `wire:"3"`
}

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

// SwitchSchedule sets the state of a schedule; Enable builds the command that enables
// one. From PAUSED to ENABLED the schedule applies its catch-up policy. From DISABLED
// to ENABLED it starts at Next.
type SwitchSchedule struct {
	Meta  `wire:"1"`
	Name  string        `wire:"2"`
	State ScheduleState `wire:"3"`
	Next  time.Time     `wire:"4"` // with ENABLED: the next fire from now on; zero: none
}

// DeleteSchedule removes a schedule. Its jobs stay. Jobs that waited for them are
// evaluated again without the dependency.
type DeleteSchedule struct {
	Meta    `wire:"1"`
	Name    string `wire:"2"`
	Version *ID    `wire:"3"` // version the caller has read; nil: any
}

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
func (*PutType) Verb() Verb { return VerbPutType }

// Verb returns the kind of the command.
func (*SwitchType) Verb() Verb { return VerbSwitchType }

// Verb returns the kind of the command.
func (*PutTemplate) Verb() Verb { return VerbPutTemplate }

// Verb returns the kind of the command.
func (*Archive) Verb() Verb { return VerbArchive }

// Verb returns the kind of the command.
func (*Unarchive) Verb() Verb { return VerbUnarchive }

// Verb returns the kind of the command.
func (*PutThrottle) Verb() Verb { return VerbPutThrottle }

// Verb returns the kind of the command.
func (*PutSchedule) Verb() Verb { return VerbPutSchedule }

// Verb returns the kind of the command.
func (*SwitchSchedule) Verb() Verb { return VerbSwitchSchedule }

// Verb returns the kind of the command.
func (*DeleteSchedule) Verb() Verb { return VerbDeleteSchedule }

// Verb returns the kind of the command.
func (*Drop) Verb() Verb { return VerbDrop }
