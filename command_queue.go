package rota

import (
	"encoding/json"
	"time"
)

// Enqueue adds all jobs to the queue in their order, or none. Sent again, it finds the
// jobs it created and returns them. A job that was a duplicate then is not created
// now.
type Enqueue struct {
	Meta `wire:"1"`
	Jobs []NewJob `wire:"2"`
}

// NewJob is a request for a job. A nil field gets its default.
type NewJob struct {
	ID       ID              `wire:"1"` // zero: derived from the id of the command and the index
	Type     string          `wire:"2"`
	Name     string          `wire:"3"` // name of the definition; empty: the type
	Params   json.RawMessage `wire:"4"` // a JSON object; empty: {}
	Priority *int            `wire:"5"`
	RunAt    time.Time       `wire:"6"` // earliest start; at most one of RunAt and Delay
	Delay    time.Duration   `wire:"7"` // relative to the Now of the batch

	UniqueKey string        `wire:"8"` // a second request with this type and key returns the first job
	UniqueFor time.Duration `wire:"9"` // minimum time that the key is held after enqueue; 0: as long as the execution is kept

	ScopeKind string    `wire:"10"` // both or neither; neither means global/global
	ScopeID   string    `wire:"11"`
	PlanTime  time.Time `wire:"12"` // together with name and scope unique among first attempts

	MaxRetries *int           `wire:"13"`
	Backoff    *time.Duration `wire:"14"`
	BackoffMax *time.Duration `wire:"15"`
	Jitter     *float64       `wire:"16"`
	Timeout    *time.Duration `wire:"17"` // of one run; enforced by the runner, see Policy.Timeout

	Template       string  `wire:"18"` // template of the job; Type may then be empty
	ConcurrencyKey *string `wire:"19"` // nil: that of the template; empty: none

	Trace string `wire:"20"` // traceparent of the caller, W3C Trace Context; empty: none
}

// Patch returns the part of the policy that the request sets.
func (n *NewJob) Patch() PolicyPatch {
	return PolicyPatch{
		MaxRetries: n.MaxRetries, Backoff: n.Backoff, BackoffMax: n.BackoffMax, Jitter: n.Jitter, Timeout: n.Timeout,
	}
}

// Ready appends delayed jobs that are due to the dispatch order, sorted by run_at, at
// most Limit of them (0: SweepMax). A delayed job cannot be claimed before. The engine
// sends Ready at the time that NextDue returns, and reads NextDue again after each
// wake-up.
type Ready struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"`
}

// Claim dispatches the first ready jobs of the given types and leases them to the
// worker. Sent again after it took jobs, it returns those that are still open and
// takes no others, until the first of its jobs is pruned.
type Claim struct {
	Meta        `wire:"1"`
	Worker      string        `wire:"2"` // name of the worker; with an Incarnation the same at every start, for Recover
	Incarnation ID            `wire:"3"` // of the process, new at each start; zero: only Reap ends the runs of a worker that died
	Types       []string      `wire:"4"` // types the worker can run, 1 to TypesMax
	Limit       int           `wire:"5"` // maximum number of jobs, 1 to ClaimMax
	Lease       time.Duration `wire:"6"` // LeaseMin to LeaseMax; the worker extends it after a third of that time
	Seed        Token         `wire:"7"` // random, see NewToken; source of the lease tokens
}

// Cancel cancels a QUEUED job and asks a RUNNING job to stop. The id of an earlier
// attempt selects the last attempt of its execution.
type Cancel struct {
	Meta   `wire:"1"`
	JobID  ID     `wire:"2"`
	Reason string `wire:"3"`
}

// Edit changes priority and params of a QUEUED job. With a new priority the job goes
// to the end of that priority.
type Edit struct {
	Meta     `wire:"1"`
	JobID    ID              `wire:"2"`
	Version  *ID             `wire:"3"` // version the caller has read; nil: any
	Priority *int            `wire:"4"`
	Params   json.RawMessage `wire:"5"` // nil: unchanged
}

// Place is the destination of a Move.
type Place string

// The places. Before and After are next to another job; the moved job gets that
// job's priority. Top and Bottom are the ends of its own priority.
const (
	PlaceBefore Place = "before"
	PlaceAfter  Place = "after"
	PlaceTop    Place = "top"
	PlaceBottom Place = "bottom"
)

// Move changes the place of a QUEUED job in the order. A delayed job may be moved and
// gets the priority of the anchor. It loses its place when it becomes due: Ready moves
// it to the end of its priority.
type Move struct {
	Meta    `wire:"1"`
	JobID   ID    `wire:"2"`
	Version *ID   `wire:"3"` // version the caller has read; nil: any
	Place   Place `wire:"4"`
	Anchor  ID    `wire:"5"` // other job, for Before and After
}

// Normalise renumbers the QUEUED jobs of one priority to 100, 200, 300 … in their
// order, OrderMax per command. After is the last job of the previous page.
type Normalise struct {
	Meta     `wire:"1"`
	Priority int `wire:"2"`
	After    ID  `wire:"3"`
}

// All combines its members into one all-or-nothing command. If one member is refused,
// all are.
type All struct {
	Meta    `wire:"1"`
	Members []Command `wire:"2"`
	// Dry applies the members and returns the replies without writing anything.
	// Sent again, it is evaluated on the rows at that time.
	Dry bool `wire:"3"`
}

// Verb returns the kind of the command.
func (*Enqueue) Verb() Verb { return VerbEnqueue }

// Verb returns the kind of the command.
func (*Ready) Verb() Verb { return VerbReady }

// Verb returns the kind of the command.
func (*Claim) Verb() Verb { return VerbClaim }

// Verb returns the kind of the command.
func (*Cancel) Verb() Verb { return VerbCancel }

// Verb returns the kind of the command.
func (*Edit) Verb() Verb { return VerbEdit }

// Verb returns the kind of the command.
func (*Move) Verb() Verb { return VerbMove }

// Verb returns the kind of the command.
func (*Normalise) Verb() Verb { return VerbNormalise }

// Verb returns the kind of the command.
func (*All) Verb() Verb { return VerbAll }
