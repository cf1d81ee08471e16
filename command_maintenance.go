package rota

import (
	"encoding/json"
	"fmt"
	"time"
)

// Expire records jobs as SKIPPED whose dependencies did not complete in time, and
// expires the active reservation when its time is over. Send it at the time that
// NextDue returns.
type Expire struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"` // maximum number of jobs; 0: SweepMax
}

// Verb returns the kind of the command.
func (*Expire) Verb() Verb { return VerbExpire }

// Validate checks the limit.
func (c *Expire) Validate() error { return asError(checkInt("limit", c.Limit, 0, SweepMax)) }

// Expired answers Expire.
type Expired struct {
	Skipped     []ID `wire:"1"` // jobs that were recorded as SKIPPED
	Freed       []ID `wire:"2"` // jobs that became ready after all
	Reservation ID   `wire:"3"` // reservation that expired; zero: none
	More        bool `wire:"4"` // there are further jobs to expire
}

func (*Expired) reply() {}

// Sweep executes intent records, one page per command: decisions of other commands for
// more rows than one command may touch.
type Sweep struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"` // maximum number of rows; 0: SweepMax
}

// Verb returns the kind of the command.
func (*Sweep) Verb() Verb { return VerbSweep }

// Validate checks the limit.
func (c *Sweep) Validate() error { return asError(checkInt("limit", c.Limit, 0, SweepMax)) }

// Swept answers Sweep: how many rows it changed, and whether there are more.
type Swept struct {
	Count int  `wire:"1"`
	More  bool `wire:"2"`
}

func (*Swept) reply() {}

// Prune deletes whole executions that have ended, with their runs. Prunable lists
// them. Prune keeps an execution that has not ended, that ended too late, or that
// redrives an execution which still exists. It writes the acts of the deleted jobs to
// the audit. It stops after executions with PruneRowsMax rows. It also deletes reservations that ended more than ReservationKeep ago,
// and tokens that were revoked or expired more than TokenKeep ago.
// AuditChain.PruneAudit removes old audit entries.
type Prune struct {
	Meta       `wire:"1"`
	Executions []ID      `wire:"2"` // at most PruneMax
	Before     time.Time `wire:"3"` // only executions that ended before this time; zero: all
}

// Verb returns the kind of the command.
func (*Prune) Verb() Verb { return VerbPrune }

// Validate checks the list of executions.
func (c *Prune) Validate() error {
	if err := checkCount("executions", len(c.Executions), 1, PruneMax); err != nil {
		return err
	}
	seen := make(map[ID]bool, len(c.Executions))
	for i, id := range c.Executions {
		field := fmt.Sprintf("executions[%d]", i)
		if err := checkID(field, id); err != nil {
			return err
		}
		if seen[id] {
			return Invalidf(field, "is given twice")
		}
		seen[id] = true
	}
	return asError(checkTime("before", c.Before))
}

func (c *Prune) weigh() (entries, bytes int) {
	return 1 + len(c.Executions), entryBytes + 32*len(c.Executions)
}

// Pruned answers Prune. Executions that no longer exist are neither counted nor kept.
type Pruned struct {
	Executions int  `wire:"1"` // deleted executions
	Jobs       int  `wire:"2"` // deleted jobs
	Kept       []ID `wire:"3"` // not deleted: not ended, ended too late, or redriving an execution that still exists
	Rest       []ID `wire:"4"` // not examined, since those before them have PruneRowsMax rows: send them in another Prune
}

func (*Pruned) reply() {}

// Redrive runs an execution again that is dead, cancelled or skipped, as a new job
// with the same params. Such an execution can be redriven once, or again if the redrive
// was cancelled. With Again it also runs a completed execution, any number of times.
//
// A job that repeats a completed execution gets its unique key only if the key is free.
type Redrive struct {
	Meta   `wire:"1"`
	JobID  ID              `wire:"2"` // any attempt of the execution
	Params json.RawMessage `wire:"3"` // its keys replace those of the old params; the others stay
	Again  bool            `wire:"4"` // also a completed execution, unless its template is archived

	Version *ID `wire:"5"` // version of the last attempt that the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*Redrive) Verb() Verb { return VerbRedrive }

// Validate requires a job.
func (c *Redrive) Validate() error {
	return asError(first(checkID("job_id", c.JobID), checkObject("params", c.Params, ParamsMax)))
}

func (c *Redrive) weigh() (entries, bytes int) { return 1, entryBytes + len(c.Params) }

// NewJobID returns the id of the job that redrives the execution.
func (c *Redrive) NewJobID() ID { return jobID(c.ID, ID{}, 0) }

// Redriven answers Redrive.
type Redriven struct {
	Job *Job `wire:"1"`
}

func (*Redriven) reply() {}
