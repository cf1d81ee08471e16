package rules

import (
	"fmt"

	"github.com/rotajobs/rota"
)

// delay: its time has not come, or that of its next attempt has not.
func (a *explainer) delay() {
	j := a.Job
	if j.Hold&rota.HoldDelay == 0 {
		return
	}
	at := stamp(j.RunAt)
	code, text := rota.ReasonDelay, fmt.Sprintf("It is not to run before %s.", at)
	if !j.RetryOf.IsZero() {
		code, text = rota.ReasonRetry, a.failedBefore()+fmt.Sprintf("attempt %d of %d waits until %s.", j.Attempt, j.Policy.MaxAttempts, at)
	}
	remedy := fmt.Sprintf("Its time comes at %s; to run it now: %s.", at, rerunCommands(j.ID))
	switch {
	case !j.RunAt.After(a.Now):
		remedy = "Its time has come. " + remedyServer
	case !j.GroupID.IsZero():
		remedy = fmt.Sprintf("Its time comes at %s; to give it up: rota job cancel %s.", at, j.ID)
	}
	a.addReason(code, text, remedy).Until = j.RunAt
}

// failedBefore says how the attempt before this one ended.
func (a *explainer) failedBefore() string {
	if a.Failed == nil || a.Failed.Run == nil {
		return "An earlier attempt failed, and "
	}
	return fmt.Sprintf("Attempt %d failed at %s%s, and ", a.Failed.Attempt, stamp(a.Failed.FinishedAt), inBrackets(errorOf(a.Failed.Run)))
}

// groupTurn: the members of a sequential group follow each other.
func (a *explainer) groupTurn() {
	j := a.Job
	if j.Hold&rota.HoldGroup == 0 {
		return
	}
	group := groupName(a.Group, j.GroupID)
	if len(a.Earlier) == 0 {
		a.addReason(rota.ReasonGroup,
			fmt.Sprintf("It is its turn in %s as member %d, and it has yet to be let go.", group, j.GroupPosition), remedyServer)
		return
	}
	first := a.Earlier[0]
	a.addReason(rota.ReasonGroup,
		fmt.Sprintf("It is member %d of %s, which runs one member at a time, and it is the turn of member %d, %s, which %s.",
			j.GroupPosition, group, first.GroupPosition, jobRef(first.ID), describeState(first)),
		fmt.Sprintf("It has its turn when the members before it have ended; to see about the first: rota job explain %s.", first.ID),
	).Jobs = firstIDs(a.Earlier)
}

// overlap: executions of a schedule that does not allow overlap follow each
// other.
func (a *explainer) overlap() {
	j := a.Job
	if j.Hold&rota.HoldOverlap == 0 {
		return
	}
	schedule := "schedule " + j.Schedule + forScope(scopeOf(j))
	if len(a.Ahead) == 0 {
		a.addReason(rota.ReasonOverlap,
			fmt.Sprintf("It waited for an earlier execution of %s, and has yet to be let go.", schedule),
			fmt.Sprintf("It goes on when the next execution of the schedule ends; to run it now: %s.", rerunCommands(j.ID)))
		return
	}
	first := a.Ahead[0]
	a.addReason(rota.ReasonOverlap,
		fmt.Sprintf("It waits for the executions of %s before it to end: %s.", schedule, listJobs(a.Ahead)),
		fmt.Sprintf("It has its turn when they have ended; to make way for it: rota job cancel %s.", first.ID),
	).Jobs = firstIDs(a.Ahead)
}
