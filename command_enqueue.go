package rota

import (
	"encoding/json"
	"fmt"
	"time"
)

// Enqueue adds all jobs to the queue in their order, or none. Sent again, it finds the
// jobs it created and returns them. A job that was a duplicate then is not created
// now.
type Enqueue struct {
	Meta `wire:"1"`
	Jobs []NewJob `wire:"2"`
}

// Verb returns the kind of the command.
func (*Enqueue) Verb() Verb { return VerbEnqueue }

// Validate checks the jobs. The error names the first wrong field.
func (c *Enqueue) Validate() error {
	if err := checkCount("jobs", len(c.Jobs), 1, JobsMax); err != nil {
		return err
	}
	for i := range c.Jobs {
		if err := first(c.Jobs[i].validate(), c.Jobs[i].validateSubmitter(c.Actor)); err != nil {
			return within(fmt.Sprintf("jobs[%d]", i), err)
		}
	}
	return c.validateIDs()
}

// validateIDs refuses duplicate ids: the store would treat the second job as the first
// one sent again and lose it. Ids from NewID ascend, so the common case needs no set.
func (c *Enqueue) validateIDs() error {
	seen := map[ID]int{}
	last := ID{}
	for i := range c.Jobs {
		id := c.Jobs[i].ID
		if id.IsZero() {
			continue
		}
		if len(seen) == 0 && id.Compare(last) > 0 {
			last = id
			continue
		}
		if len(seen) == 0 {
			for k := range c.Jobs[:i] {
				seen[c.Jobs[k].ID] = k
			}
		}
		if k, taken := seen[id]; taken {
			return Invalidf(fmt.Sprintf("jobs[%d].id", i), "is also the id of jobs[%d]", k)
		}
		seen[id] = i
	}
	return nil
}

func (c *Enqueue) weigh() (entries, bytes int) {
	for i := range c.Jobs {
		n := &c.Jobs[i]
		bytes += entryBytes + len(n.Params) + len(n.UniqueKey) + len(n.ScopeID) + len(n.Trace)
		if n.ConcurrencyKey != nil {
			bytes += len(*n.ConcurrencyKey)
		}
	}
	return len(c.Jobs), bytes
}

// JobID returns the id of the i-th job of the command. Derived ids sort by index, so
// adjacent jobs are on one database page: claims and finishes of a batch then write
// half the pages.
func (c *Enqueue) JobID(i int) ID { return jobID(c.ID, c.Jobs[i].ID, i) }

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

func (n *NewJob) validate() *Error {
	return first(
		n.validateID(),
		n.validateType(),
		checkName("template", n.Template, false),
		checkName("name", n.Name, false),
		checkObject("params", n.Params, ParamsMax),
		checkIntPtr("priority", n.Priority, PriorityMin, PriorityMax),
		checkTime("run_at", n.RunAt),
		checkDuration("delay", n.Delay, 0, DelayMax),
		n.validateDelay(),
		checkText("unique_key", n.UniqueKey, KeyMax),
		checkDuration("unique_for", n.UniqueFor, 0, DelayMax),
		n.validateUnique(),
		checkText("scope_kind", n.ScopeKind, NameMax),
		checkText("scope_id", n.ScopeID, KeyMax),
		n.validateScope(),
		checkTime("plan_time", n.PlanTime),
		n.validatePolicy(),
		n.validateKey(),
		checkTrace("trace", n.Trace),
	)
}

func (n *NewJob) validateType() *Error {
	if n.Type == "" && n.Template == "" {
		return Invalidf("type", "is empty, and so is template; set one of them")
	}
	return checkName("type", n.Type, false)
}

// TypeOrTemplate refuses a request that names both a type and a template.
func (n *NewJob) TypeOrTemplate() error {
	if n.Type == "" || n.Template == "" {
		return nil
	}
	return Invalidf("type", "is %s, and template is %s; set only one of them, since a template has a type", quote(n.Type), quote(n.Template))
}

func (n *NewJob) validateKey() *Error {
	if n.ConcurrencyKey == nil {
		return nil
	}
	return checkText("concurrency_key", *n.ConcurrencyKey, KeyMax)
}

func (n *NewJob) validateID() *Error {
	if n.ID.IsZero() || n.ScopeKind == ItemScopeKind {
		return nil
	}
	return checkNewID("id", n.ID)
}

func (n *NewJob) validateDelay() *Error {
	if n.Delay != 0 && !n.RunAt.IsZero() {
		return Invalidf("delay", "run_at is also given; give one of them")
	}
	return nil
}

func (n *NewJob) validateUnique() *Error {
	if n.UniqueFor != 0 && n.UniqueKey == "" {
		return Invalidf("unique_for", "is given without a unique_key")
	}
	return nil
}

func (n *NewJob) validateScope() *Error {
	switch {
	case n.ScopeKind != "" && n.ScopeID == "":
		return Invalidf("scope_id", "is empty, but scope_kind is %s; give both or neither", quote(n.ScopeKind))
	case n.ScopeID != "" && n.ScopeKind == "":
		return Invalidf("scope_kind", "is empty, but scope_id is %s; give both or neither", quote(n.ScopeID))
	}
	return nil
}

func (n *NewJob) validatePolicy() *Error {
	patch := n.Patch()
	return patch.validate()
}

// validateSubmitter refuses jobs of internal types, except deliveries that the engine
// enqueues for events that no store publishes. Those must look like the deliveries of a
// store.
func (n *NewJob) validateSubmitter(actor string) *Error {
	if actor == SystemActor && n.isDelivery() {
		return nil
	}
	return checkNotInternal("type", n.Type)
}

func (n *NewJob) isDelivery() bool {
	d, err := ParseDelivery(n.Params)
	plain := n.Template == "" && n.UniqueKey == "" && n.ConcurrencyKey == nil && n.ScopeKind == "" &&
		n.PlanTime.IsZero() && n.RunAt.IsZero() && n.Delay == 0
	return err == nil && plain && n.Type == TypeWebhook && n.Priority != nil && *n.Priority == PriorityMin &&
		n.ID == DeliveryID(n.Params, d.Event, d.Time)
}

// Enqueued answers Enqueue, with one entry per requested job.
type Enqueued struct {
	Jobs []Submitted `wire:"1"`
}

func (*Enqueued) reply() {}

// Submitted is the result for one requested job. Duplicate means that the unique key or
// plan key was taken; Job is then the job that holds it. Job is nil if the command is
// sent again after that job was deleted.
type Submitted struct {
	Job       *Job `wire:"1"`
	Duplicate bool `wire:"2"`
}

// Ready appends delayed jobs that are due to the dispatch order, sorted by run_at, at
// most Limit of them (0: SweepMax). A delayed job cannot be claimed before. The engine
// sends Ready at the time that NextDue returns, and reads NextDue again after each
// wake-up.
type Ready struct {
	Meta  `wire:"1"`
	Limit int `wire:"2"`
}

// Verb returns the kind of the command.
func (*Ready) Verb() Verb { return VerbReady }

// Validate checks the limit.
func (c *Ready) Validate() error {
	return asError(checkInt("limit", c.Limit, 0, SweepMax))
}

// Readied answers Ready. More means that further jobs are due.
type Readied struct {
	Count int  `wire:"1"`
	More  bool `wire:"2"`
}

func (*Readied) reply() {}
