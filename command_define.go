package rota

import "time"

// PutMode says what a Put expects to find.
type PutMode string

// The modes. A Put that finds exactly what it brings changes nothing, whatever
// its mode, unless it was to create.
const (
	PutAny     PutMode = ""        // makes it or changes it
	PutCreate  PutMode = "create"  // refused if it is there
	PutReplace PutMode = "replace" // refused if it is not
)

// PutType declares a type. A type that was paused stays so.
type PutType struct {
	Meta    `wire:"1"`
	Name    string   `wire:"2"`
	Mode    PutMode  `wire:"3"`
	Version *ID      `wire:"4"` // the version that was read; nil: whatever it is
	Spec    TypeSpec `wire:"5"`
}

// SwitchType pauses a type or lets it go on. Jobs of a paused type are accepted
// and not started; those that run go on.
type SwitchType struct {
	Meta   `wire:"1"`
	Name   string `wire:"2"`
	Paused bool   `wire:"3"`
}

// PutTemplate declares a template. Jobs that were made from it stay as they are;
// an archived one stays archived.
type PutTemplate struct {
	Meta    `wire:"1"`
	Name    string       `wire:"2"`
	Mode    PutMode      `wire:"3"`
	Version *ID          `wire:"4"` // the version that was read; nil: whatever it is
	Spec    TemplateSpec `wire:"5"`
	// OnlySchedule refuses it if a schedule other than the one of this name uses the
	// template, which then would change too; empty: whoever uses it.
	OnlySchedule string `wire:"6"`
}

// Archive ends the use of a template: its jobs are left alone, new ones are
// refused, its schedules are disabled.
type Archive struct {
	Meta `wire:"1"`
	Name string `wire:"2"`
}

// Unarchive lets a template be used again. Its schedules stay disabled.
type Unarchive struct {
	Meta `wire:"1"`
	Name string `wire:"2"`
}

// PutThrottle sets all limits on what runs at once and how fast it starts. It
// takes effect at once; jobs that run are left alone.
type PutThrottle struct {
	Meta    `wire:"1"`
	Version *ID          `wire:"2"` // the version that was read; nil: whatever it is
	Spec    ThrottleSpec `wire:"3"`
}

// PutSchedule declares a schedule; Declare makes one. Declared again as it
// stands it changes nothing, not even its next fire. A change keeps the state
// unless it names another, and keeps the next fire unless the times changed.
type PutSchedule struct {
	Meta    `wire:"1"`
	Name    string        `wire:"2"`
	Mode    PutMode       `wire:"3"`
	Version *ID           `wire:"4"` // the version that was read; nil: whatever it is
	Spec    ScheduleSpec  `wire:"5"`
	State   ScheduleState `wire:"6"` // empty: as it is; of a new one ENABLED
	Anchor  time.Time     `wire:"7"` // what EVERY without STARTS counts from
	Next    time.Time     `wire:"8"` // its first fire; zero: none
	// Recreate declares it as if it had not been there before. What depends on it
	// still does.
	Recreate bool `wire:"9"`
}

// SwitchSchedule sets the state of a schedule. From PAUSED to ENABLED it catches
// up; from DISABLED it starts at Next, which Enable finds.
type SwitchSchedule struct {
	Meta  `wire:"1"`
	Name  string        `wire:"2"`
	State ScheduleState `wire:"3"`
	Next  time.Time     `wire:"4"` // for ENABLED: its next fire from now on; zero: none
}

// DeleteSchedule removes a schedule. Its jobs stay; those that waited for them
// are looked at again without it.
type DeleteSchedule struct {
	Meta    `wire:"1"`
	Name    string `wire:"2"`
	Version *ID    `wire:"3"` // the version that was read; nil: whatever it is
}

// Drop ends a definition: a schedule, and the template of its name unless another
// schedule uses that. What is queued of it is cancelled, what runs is asked to
// stop, the template is archived, and its history is hidden at once; a Sweep sees
// to what is more than one command may touch, and removes the history.
type Drop struct {
	Meta        `wire:"1"`
	Name        string `wire:"2"` // of the schedule
	Version     *ID    `wire:"3"` // the version that was read; nil: whatever it is
	KeepHistory bool   `wire:"4"` // what has ended, or will, stays as it is
	// Recreate leaves the schedule, what depends on it, and the template for a
	// PutTemplate and a PutSchedule{Anew} that follow in the same All.
	Recreate bool `wire:"5"`
}

// Verb names the command.
func (*PutType) Verb() Verb { return VerbPutType }

// Verb names the command.
func (*SwitchType) Verb() Verb { return VerbSwitchType }

// Verb names the command.
func (*PutTemplate) Verb() Verb { return VerbPutTemplate }

// Verb names the command.
func (*Archive) Verb() Verb { return VerbArchive }

// Verb names the command.
func (*Unarchive) Verb() Verb { return VerbUnarchive }

// Verb names the command.
func (*PutThrottle) Verb() Verb { return VerbPutThrottle }

// Verb names the command.
func (*PutSchedule) Verb() Verb { return VerbPutSchedule }

// Verb names the command.
func (*SwitchSchedule) Verb() Verb { return VerbSwitchSchedule }

// Verb names the command.
func (*DeleteSchedule) Verb() Verb { return VerbDeleteSchedule }

// Verb names the command.
func (*Drop) Verb() Verb { return VerbDrop }
