package rota

import "fmt"

// EnqueueGroup adds all members of a group to the queue in their order, or none. A
// member must not have a plan time, and its unique key must be free.
type EnqueueGroup struct {
	Meta      `wire:"1"`
	Name      string    `wire:"2"` // for people; need not be unique
	Mode      GroupMode `wire:"3"` // empty: parallel
	OnFailure OnFailure `wire:"4"` // empty: continue
	Jobs      []NewJob  `wire:"5"`
}

// Verb returns the kind of the command.
func (*EnqueueGroup) Verb() Verb { return VerbEnqueueGroup }

// Validate checks the group and its members.
func (c *EnqueueGroup) Validate() error {
	if err := first(
		checkText("name", c.Name, NameMax),
		checkWord("mode", c.Mode, GroupParallel, GroupSequential),
		checkWord("on_failure", c.OnFailure, FailureContinue, FailureStop, FailureSkip),
	); err != nil {
		return err
	}
	if len(c.Jobs) == 0 {
		return Invalidf("jobs", "is empty; a group has at least one member")
	}
	plain := Enqueue{Jobs: c.Jobs}
	if err := plain.Validate(); err != nil {
		return err
	}
	for i := range c.Jobs {
		if !c.Jobs[i].PlanTime.IsZero() {
			return Invalidf(fmt.Sprintf("jobs[%d].plan_time", i), "is given; a member of a group cannot have one")
		}
	}
	return nil
}

func (c *EnqueueGroup) weigh() (entries, bytes int) {
	plain := Enqueue{Jobs: c.Jobs}
	return plain.weigh()
}

// JobID returns the id of the i-th member of the group.
func (c *EnqueueGroup) JobID(i int) ID { return jobID(c.ID, c.Jobs[i].ID, i) }

// GroupID returns the id of the group that the command creates.
func (c *EnqueueGroup) GroupID() ID { return c.ID.Derive([]byte("group")) }

// GroupEnqueued answers EnqueueGroup.
type GroupEnqueued struct {
	Group *Group `wire:"1"`
	Jobs  []*Job `wire:"2"`
}

func (*GroupEnqueued) reply() {}

// CancelGroup cancels the queued members of a group and asks the running members to
// stop. It takes effect at once for all members; in a large group, Sweep updates the
// remaining rows.
type CancelGroup struct {
	Meta    `wire:"1"`
	GroupID ID     `wire:"2"`
	Reason  string `wire:"3"`
}

// Verb returns the kind of the command.
func (*CancelGroup) Verb() Verb { return VerbCancelGroup }

// Validate requires a group.
func (c *CancelGroup) Validate() error {
	return asError(first(checkID("group_id", c.GroupID), checkText("reason", c.Reason, ReasonMax)))
}

// CancelledGroup answers CancelGroup. Cancelled and Stopping count the rows that this
// command changed; More means that Sweep changes further rows.
type CancelledGroup struct {
	Group     *Group `wire:"1"`
	Cancelled int    `wire:"2"`
	Stopping  int    `wire:"3"`
	More      bool   `wire:"4"`
}

func (*CancelledGroup) reply() {}
