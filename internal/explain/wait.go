package explain

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// delay explains a job, or its next attempt, whose time has not come.
func (a *explainer) delay() {
	j := a.Job
	if j.Hold&rota.HoldDelay == 0 {
		return
	}
	at := rules.Stamp(j.RunAt)
	code, text := rota.ReasonDelay, fmt.Sprintf("It may not start before %s.", at)
	if !j.RetryOf.IsZero() {
		code, text = rota.ReasonRetry, a.failedBefore()+fmt.Sprintf("attempt %d of %d waits until %s.", j.Attempt, j.Policy.MaxAttempts, at)
	}
	remedy := fmt.Sprintf("It becomes ready at %s; to run it now: rota job run-now %s.", at, j.ID)
	switch {
	case !j.RunAt.After(a.Now):
		remedy = "That time has come. " + remedyServer
	case j.Hold != rota.HoldDelay:
		remedy = fmt.Sprintf("This delay ends at %s; to end it now: rota job edit %s --delay 0s.", at, j.ID)
	}
	a.addReason(code, text, remedy).Until = j.RunAt
}

// failedBefore states how the attempt before this one ended.
func (a *explainer) failedBefore() string {
	if a.Failed == nil || a.Failed.Run == nil {
		return "An earlier attempt failed, and "
	}
	return fmt.Sprintf("Attempt %d failed at %s%s, and ", a.Failed.Attempt, rules.Stamp(a.Failed.FinishedAt), inBrackets(errorOf(a.Failed.Run)))
}

// groupTurn explains a member of a sequential group that waits for the members
// before it.
func (a *explainer) groupTurn() {
	j := a.Job
	if j.Hold&rota.HoldGroup == 0 {
		return
	}
	group := groupName(a.Group, j.GroupID)
	if len(a.Earlier) == 0 {
		a.addReason(rota.ReasonGroup,
			fmt.Sprintf("It is member %d of %s, the members before it have ended, and it is about to be released.", j.GroupPosition, group), remedyServer)
		return
	}
	first := a.Earlier[0]
	a.addReason(rota.ReasonGroup,
		fmt.Sprintf("It is member %d of %s, which runs one member at a time, and member %d is before it: %s, which %s.",
			j.GroupPosition, group, first.GroupPosition, rules.JobRef(first.ID), describeState(first)),
		fmt.Sprintf("It may start when the members before it have ended; to explain the first of them: rota job explain %s.", first.ID),
	).Jobs = firstIDs(a.Earlier)
}

// overlap explains a job that waits for earlier executions of a schedule that
// does not allow overlap.
func (a *explainer) overlap() {
	j := a.Job
	if j.Hold&rota.HoldOverlap == 0 {
		return
	}
	schedule := "schedule " + j.Schedule + forScope(rules.ScopeOf(j))
	if len(a.Ahead) == 0 {
		a.addReason(rota.ReasonOverlap,
			fmt.Sprintf("It waited for an earlier execution of %s, which has ended, and was not released.", schedule),
			fmt.Sprintf("It is released when the next execution of the schedule ends; to run it now: %s.", rerunCommands(j.ID)))
		return
	}
	first := a.Ahead[0]
	a.addReason(rota.ReasonOverlap,
		fmt.Sprintf("It waits for earlier executions of %s to end: %s.", schedule, listJobs(a.Ahead)),
		fmt.Sprintf("It may start when they have ended; to cancel the first of them: rota job cancel %s.", first.ID),
	).Jobs = firstIDs(a.Ahead)
}
