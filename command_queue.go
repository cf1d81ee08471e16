package rota

import (
	"encoding/json"
	"time"
)

// Cancel cancels a QUEUED job and asks a RUNNING job to stop. The id of an earlier
// attempt selects the last attempt of its execution.
type Cancel struct {
	Meta   `wire:"1"`
	JobID  ID     `wire:"2"`
	Reason string `wire:"3"`

	Version *ID `wire:"4"` // version of the last attempt that the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*Cancel) Verb() Verb { return VerbCancel }

// Validate requires a job.
func (c *Cancel) Validate() error {
	return asError(first(checkID("job_id", c.JobID), checkText("reason", c.Reason, ReasonMax)))
}

// CancelledJob answers Cancel. Stopping means that the job is running and was asked to
// stop; otherwise it is cancelled.
type CancelledJob struct {
	Job      *Job `wire:"1"`
	Stopping bool `wire:"2"`
}

func (*CancelledJob) reply() {}

// Edit changes a QUEUED job: its priority, its params, and when it may start. With a
// new priority the job goes to the end of that priority. The id of an earlier attempt
// selects the last attempt of its execution.
//
// A job whose time is set to the future is delayed until then, even if it was ready.
// A delayed job whose time is set to now or to the past becomes ready as if it had
// fallen due: at the end of its priority, as far as limits permit. Other reasons to
// hold it back stay. An edit that changes nothing only sets the version; it has no audit
// entry.
type Edit struct {
	Meta     `wire:"1"`
	JobID    ID              `wire:"2"`
	Version  *ID             `wire:"3"` // version the caller has read; nil: any
	Priority *int            `wire:"4"`
	Params   json.RawMessage `wire:"5"` // nil: unchanged

	MergeParams json.RawMessage `wire:"6"` // its keys replace those of the params; the others stay
	RunAt       time.Time       `wire:"7"` // earliest start; at most one of RunAt, Delay and RunNow
	Delay       *time.Duration  `wire:"8"` // earliest start, relative to the Now of the batch
	// RunNow ends the delay of a job or of a waiting retry. A job that is not delayed
	// stays as it is. A job that is held for another reason than its time or its
	// concurrency key is refused.
	RunNow bool `wire:"9"`
}

// Verb returns the kind of the command.
func (*Edit) Verb() Verb { return VerbEdit }

// Validate requires a job and at least one change.
func (c *Edit) Validate() error {
	if c.Priority == nil && c.Params == nil && c.MergeParams == nil && !c.setsTime() {
		return Invalidf("", "no change is given; set at least one of priority, params, merge_params, run_at and delay")
	}
	return asError(first(
		checkID("job_id", c.JobID),
		checkIntPtr("priority", c.Priority, PriorityMin, PriorityMax),
		checkObject("params", c.Params, ParamsMax),
		checkObject("merge_params", c.MergeParams, ParamsMax),
		c.validateParams(),
		checkTime("run_at", c.RunAt),
		checkDurationPtr("delay", c.Delay, 0, DelayMax),
		c.validateTime(),
	))
}

func (c *Edit) setsTime() bool { return !c.RunAt.IsZero() || c.Delay != nil || c.RunNow }

func (c *Edit) validateParams() *Error {
	if c.Params != nil && c.MergeParams != nil {
		return Invalidf("merge_params", "params is also given; give one of them")
	}
	return nil
}

func (c *Edit) validateTime() *Error {
	switch {
	case c.Delay != nil && !c.RunAt.IsZero():
		return Invalidf("delay", "run_at is also given; give one of them")
	case c.RunNow && (c.Delay != nil || !c.RunAt.IsZero()):
		return Invalidf("run_now", "run_at or delay is also given; give one of them")
	}
	return nil
}

func (c *Edit) weigh() (entries, bytes int) {
	return 1, entryBytes + len(c.Params) + len(c.MergeParams)
}

// Edited answers Edit.
type Edited struct {
	Job *Job `wire:"1"`
}

func (*Edited) reply() {}

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

// Verb returns the kind of the command.
func (*Move) Verb() Verb { return VerbMove }

// Validate checks the place, and that the anchor is given exactly if the place needs it.
func (c *Move) Validate() error {
	err := first(
		checkID("job_id", c.JobID),
		checkOneOf("place", c.Place, PlaceBefore, PlaceAfter, PlaceTop, PlaceBottom),
	)
	beside := c.Place == PlaceBefore || c.Place == PlaceAfter
	switch {
	case err != nil:
	case beside && c.Anchor.IsZero():
		err = Invalidf("anchor", "is empty; %s needs the id of another job", c.Place)
	case beside && c.Anchor == c.JobID:
		err = Invalidf("anchor", "is the job itself; name another one")
	case !beside && !c.Anchor.IsZero():
		err = Invalidf("anchor", "is given, but %s takes none", c.Place)
	}
	return asError(err)
}

// Moved answers Move.
type Moved struct {
	Job *Job `wire:"1"`
}

func (*Moved) reply() {}

// Normalise renumbers the QUEUED jobs of one priority to 100, 200, 300 … in their
// order, one page per command. After is the last job of the previous page. A page that
// is not the last one keeps between the jobs before and after it, which may leave
// smaller steps.
type Normalise struct {
	Meta     `wire:"1"`
	Priority int `wire:"2"`
	After    ID  `wire:"3"`
	Limit    int `wire:"4"` // maximum number of jobs; 0: OrderMax
}

// Verb returns the kind of the command.
func (*Normalise) Verb() Verb { return VerbNormalise }

// Validate checks the priority and the limit.
func (c *Normalise) Validate() error {
	return asError(first(
		checkInt("priority", c.Priority, PriorityMin, PriorityMax),
		checkInt("limit", c.Limit, 0, OrderMax),
	))
}

// Normalised answers Normalise. If More is set, Last is the After of the next page.
// Otherwise Below is the next lower priority that has QUEUED jobs, nil if there is
// none: a caller that starts at PriorityMax reaches every priority.
type Normalised struct {
	Count int  `wire:"1"`
	Last  ID   `wire:"2"`
	More  bool `wire:"3"`
	Below *int `wire:"4"`
}

func (*Normalised) reply() {}
