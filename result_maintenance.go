package rota

// Expired answers Expire.
type Expired struct {
	Skipped     []ID // jobs that were recorded as SKIPPED
	Freed       []ID // jobs that became ready after all
	Reservation ID   // reservation that expired; zero: none
	More        bool // there are further jobs to expire
}

// Swept answers Sweep: how many rows it changed, and whether there are more.
type Swept struct {
	Count int
	More  bool
}

// Pruned answers Prune. Executions that no longer exist are neither counted nor kept.
type Pruned struct {
	Executions int  // deleted executions
	Jobs       int  // deleted jobs
	Kept       []ID // not deleted: not ended, ended too late, or redriving an execution that still exists
}

// Redriven answers Redrive.
type Redriven struct{ Job *Job }

func (*Expired) reply()  {}
func (*Swept) reply()    {}
func (*Pruned) reply()   {}
func (*Redriven) reply() {}
