package rota

// Fired answers Fire.
type Fired struct {
	ScheduleChanged bool   // the schedule has changed since it was read, and nothing was fired
	Jobs            []*Job // created jobs, including SKIPPED ones
	Known           int    // planned executions that existed already
	Disabled        string // why the schedule was disabled instead of fired; empty: it was not
}

// Triggered answers Trigger, with one job per scope.
type Triggered struct{ Jobs []*Job }

// Backfilled answers Backfill. Known counts planned executions that existed already.
type Backfilled struct {
	Jobs  []*Job
	Known int
}

func (*Fired) reply()      {}
func (*Triggered) reply()  {}
func (*Backfilled) reply() {}
