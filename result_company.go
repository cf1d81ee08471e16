package rota

import "time"

// Fired answers Fire. Moved says that the schedule was no longer as it was read
// and nothing was fired: read it again. Jobs are those that were made, SKIPPED
// ones included; Known counts planned executions that stood there already.
// Disabled is the reason why the schedule was disabled instead.
type Fired struct {
	Moved    bool
	Jobs     []*Job
	Known    int
	Disabled string
}

// Triggered answers Trigger, one job per scope.
type Triggered struct{ Jobs []*Job }

// Backfilled answers Backfill. Known counts planned executions that stood there
// already.
type Backfilled struct {
	Jobs  []*Job
	Known int
}

// GroupEnqueued answers EnqueueGroup.
type GroupEnqueued struct {
	Group *Group
	Jobs  []*Job
}

// CancelledGroup answers CancelGroup. Cancelled and Stopping count what was done
// at once; More says that a Sweep does the rest.
type CancelledGroup struct {
	Group     *Group
	Cancelled int
	Stopping  int
	More      bool
}

// Reserved answers Reserve.
type Reserved struct{ Reservation *Reservation }

// Directed answers Direct. The job carries its run, and the run its token. Now is
// what time it was for the store.
type Directed struct {
	Job *Job
	Now time.Time
}

// Released answers Release.
type Released struct{ Reservation *Reservation }

// Expired answers Expire: jobs that were skipped, jobs that were let go after
// all, and the reservation that was given up.
type Expired struct {
	Skipped     []ID
	Freed       []ID
	Reservation ID
	More        bool
}

// Swept answers Sweep: how many rows it touched, and whether there are more.
type Swept struct {
	Count int
	More  bool
}

// Pruned answers Prune: what was removed. Kept are the executions that were not,
// because they have not ended, ended too late, or try one anew that is still
// there; those that are gone count as neither.
type Pruned struct {
	Executions int
	Jobs       int
	Kept       []ID
}

// Redriven answers Redrive.
type Redriven struct{ Job *Job }

func (*Fired) reply()          {}
func (*Triggered) reply()      {}
func (*Backfilled) reply()     {}
func (*GroupEnqueued) reply()  {}
func (*CancelledGroup) reply() {}
func (*Reserved) reply()       {}
func (*Directed) reply()       {}
func (*Released) reply()       {}
func (*Expired) reply()        {}
func (*Swept) reply()          {}
func (*Pruned) reply()         {}
func (*Redriven) reply()       {}
