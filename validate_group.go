package rota

import "fmt"

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

// Validate requires a group.
func (c *CancelGroup) Validate() error {
	return asError(first(checkID("group_id", c.GroupID), checkText("reason", c.Reason, ReasonMax)))
}
