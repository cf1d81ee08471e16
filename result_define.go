package rota

// TypePut answers PutType and SwitchType. Changed is false if nothing changed.
type TypePut struct {
	Type    *Type
	Changed bool
}

// TemplatePut answers PutTemplate, Archive and Unarchive. Disabled counts the schedules
// that this command disabled; Sweep disables the others.
type TemplatePut struct {
	Template *Template
	Changed  bool
	Disabled int
}

// ThrottlePut answers PutThrottle.
type ThrottlePut struct {
	Throttle *Throttle
	Changed  bool
}

// SchedulePut answers PutSchedule and SwitchSchedule.
type SchedulePut struct {
	Schedule *Schedule
	Changed  bool
}

// ScheduleDeleted answers DeleteSchedule. Gone means that the schedule did not exist, as
// when the command is sent again.
type ScheduleDeleted struct{ Gone bool }

// Dropped answers Drop. Gone means that the definition did not exist, as when the command
// is sent again. The counts are of this command; Sweep processes further rows.
type Dropped struct {
	Gone      bool
	Cancelled int  // queued jobs that were cancelled
	Stopping  int  // running jobs that were asked to stop
	Archived  bool // the template was archived
}

func (*TypePut) reply()         {}
func (*TemplatePut) reply()     {}
func (*ThrottlePut) reply()     {}
func (*SchedulePut) reply()     {}
func (*ScheduleDeleted) reply() {}
func (*Dropped) reply()         {}
