package rota

// TypePut answers PutType and SwitchType. Changed is false if it stood so
// already.
type TypePut struct {
	Type    *Type
	Changed bool
}

// TemplatePut answers PutTemplate, Archive and Unarchive. Disabled counts the
// schedules that archiving disabled at once; a Sweep disables the others.
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

// ScheduleDeleted answers DeleteSchedule. Gone says that it was not there: a
// delete that is sent again finds it so.
type ScheduleDeleted struct{ Gone bool }

// Dropped answers Drop. Gone says that it was not there: a drop that is sent again
// finds it so. The others are what was done at once; a Sweep does the rest.
type Dropped struct {
	Gone      bool
	Cancelled int  // jobs that were queued
	Stopping  int  // runs that were asked to stop
	Archived  bool // its template was, too
}

func (*TypePut) reply()         {}
func (*TemplatePut) reply()     {}
func (*ThrottlePut) reply()     {}
func (*SchedulePut) reply()     {}
func (*ScheduleDeleted) reply() {}
func (*Dropped) reply()         {}
