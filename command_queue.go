package rota

import (
	"encoding/json"
	"time"
)

// Enqueue puts jobs into the queue, all of them or none, in their own order.
// Sent again it finds its own jobs and answers with them; what was a duplicate
// then is not created now.
type Enqueue struct {
	Meta `wire:"1"`
	Jobs []NewJob `wire:"2"`
}

// NewJob is a job as it is asked for. What is left nil takes its default.
type NewJob struct {
	ID       ID              `wire:"1"` // zero: derived from the command's id and its place in it
	Type     string          `wire:"2"`
	Name     string          `wire:"3"` // the definition; empty: the type
	Params   json.RawMessage `wire:"4"` // a JSON object; empty: {}
	Priority *int            `wire:"5"`
	RunAt    time.Time       `wire:"6"` // not before; at most one of RunAt and Delay
	Delay    time.Duration   `wire:"7"` // from the store's Now

	UniqueKey string        `wire:"8"` // a second job of this type and key is answered with the first
	UniqueFor time.Duration `wire:"9"` // how long after enqueue the key is held at least; 0: as long as the execution is kept

	ScopeKind string    `wire:"10"` // both or neither; neither is global/global
	ScopeID   string    `wire:"11"`
	PlanTime  time.Time `wire:"12"` // with name and scope, unique among first attempts

	MaxRetries *int           `wire:"13"`
	Backoff    *time.Duration `wire:"14"`
	BackoffMax *time.Duration `wire:"15"`
	Jitter     *float64       `wire:"16"`
	Timeout    *time.Duration `wire:"17"` // of one run; see Policy.Timeout for who enforces it

	Template       string  `wire:"18"` // made from this; the type is then the template's, and may be left empty
	ConcurrencyKey *string `wire:"19"` // nil: the template's; empty: none

	Trace string `wire:"20"` // the traceparent of W3C Trace Context that it goes on from; empty: none
}

// Patch is what the request says about the policy.
func (n *NewJob) Patch() PolicyPatch {
	return PolicyPatch{
		MaxRetries: n.MaxRetries, Backoff: n.Backoff, BackoffMax: n.BackoffMax, Jitter: n.Jitter, Timeout: n.Timeout,
	}
}

// Ready gives due jobs their place at the end of the order, in run_at order,
// at most Limit of them (0: SweepMax). A delayed job is not claimed before
// somebody sends this: when NextDue has come, and at Wake, which tells that it
// may have come nearer.
type Ready struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"`
}

// Claim takes the first ready jobs of the given types, dispatches them and
// leases them to the worker. Sent again after it took some, it answers with
// those that are still open and takes no more, until the first of them is pruned.
type Claim struct {
	Meta        `wire:"1"`
	Worker      string        `wire:"2"` // who runs them; with a Life, the same name at every start, for Recover
	Incarnation ID            `wire:"3"` // of the process that holds the store, new at each start; zero: Reap alone ends what it leaves
	Types       []string      `wire:"4"` // those the worker can run, 1 to TypesMax; others are passed over
	Limit       int           `wire:"5"` // at most so many jobs, 1 to ClaimMax: those that can start now
	Lease       time.Duration `wire:"6"` // until when the worker is heard of again, LeaseMin to LeaseMax; Extend every third of it
	Seed        Token         `wire:"7"` // random, see NewToken; the lease tokens come from it
}

// Cancel stops a job: a QUEUED one at once, a RUNNING one by asking. An
// attempt that has been retried stands for the last of its execution.
type Cancel struct {
	Meta   `wire:"1"`
	JobID  ID     `wire:"2"`
	Reason string `wire:"3"`
}

// Edit changes what may still change of a QUEUED job. A new priority puts it
// at the end of that priority.
type Edit struct {
	Meta     `wire:"1"`
	JobID    ID              `wire:"2"`
	Version  *ID             `wire:"3"` // the version that was read; nil: whatever it is
	Priority *int            `wire:"4"`
	Params   json.RawMessage `wire:"5"` // nil: unchanged
}

// Place is where a Move puts a job.
type Place string

// The places. Before and After are next to another job, whose priority the
// moved one adopts; Top and Bottom are the ends of its own priority.
const (
	PlaceBefore Place = "before"
	PlaceAfter  Place = "after"
	PlaceTop    Place = "top"
	PlaceBottom Place = "bottom"
)

// Move puts a QUEUED job elsewhere in the order. A delayed job may be moved,
// which also gives it the anchor's priority, but its new place does not last:
// when it becomes due, Ready puts it at the end of its priority.
type Move struct {
	Meta    `wire:"1"`
	JobID   ID    `wire:"2"`
	Version *ID   `wire:"3"` // the version that was read; nil: whatever it is
	Place   Place `wire:"4"`
	Anchor  ID    `wire:"5"` // the other job, for Before and After
}

// Normalise renumbers the QUEUED jobs of one priority to 100, 200, 300 … in
// their order, OrderMax at a time. After is the last job of the page before.
type Normalise struct {
	Meta     `wire:"1"`
	Priority int `wire:"2"`
	After    ID  `wire:"3"`
}

// All makes its members one all-or-nothing command: the first that is refused
// refuses them all.
type All struct {
	Meta    `wire:"1"`
	Members []Command `wire:"2"`
	// Dry has it decided and answered as ever, and nothing written. Sent again it
	// is decided on what is there then.
	Dry bool `wire:"3"`
}

// Verb names the command.
func (*Enqueue) Verb() Verb { return VerbEnqueue }

// Verb names the command.
func (*Ready) Verb() Verb { return VerbReady }

// Verb names the command.
func (*Claim) Verb() Verb { return VerbClaim }

// Verb names the command.
func (*Cancel) Verb() Verb { return VerbCancel }

// Verb names the command.
func (*Edit) Verb() Verb { return VerbEdit }

// Verb names the command.
func (*Move) Verb() Verb { return VerbMove }

// Verb names the command.
func (*Normalise) Verb() Verb { return VerbNormalise }

// Verb names the command.
func (*All) Verb() Verb { return VerbAll }
