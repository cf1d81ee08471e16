package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
)

// explainEnded: what has ended does not run any more, and says how it ended.
func (a *explainer) explainEnded() {
	reason := a.addReason(rota.ReasonEnded, a.howEnded(), a.endRemedy())
	if a.Redrive != nil {
		reason.Jobs = []rota.ID{a.Redrive.ID}
	}
}

func (a *explainer) howEnded() string {
	j, run, at := a.Job, a.Job.Run, stamp(a.Job.FinishedAt)
	switch {
	case j.Status == rota.StatusCancelled:
		return fmt.Sprintf("It was cancelled at %s, before it started%s.", at, a.withGroup())
	case run == nil || run.Open():
		return fmt.Sprintf("It ended at %s, and no run says how.", at)
	case j.Sequel == rota.SequelDead:
		return fmt.Sprintf("It failed for good at %s, in %s%s.", at, attemptOf(j), afterColon(errorOf(run)))
	case isFailure(run.Outcome, run.ErrorCode, run):
		return fmt.Sprintf("It failed at %s, in %s%s.", at, attemptOf(j), afterColon(errorOf(run)))
	case run.Outcome == rota.OutcomeCompleted:
		return fmt.Sprintf("It completed at %s, in %s.", at, attemptOf(j))
	case run.Outcome == rota.OutcomeSkipped:
		return fmt.Sprintf("It was skipped at %s%s.", at, afterColon(strings.TrimPrefix(oneLine(run.Error), "skipped: ")))
	case !run.CancelAt.IsZero():
		return fmt.Sprintf("It was cancelled at %s while it ran: %s asked it to stop%s.",
			at, cmp.Or(run.CancelBy, "Rota"), inBrackets(run.CancelReason))
	}
	return fmt.Sprintf("It was cancelled at %s while it ran%s.", at, afterColon(errorOf(run)))
}

// withGroup mentions that the group of a cancelled job was ended.
func (a *explainer) withGroup() string {
	if a.Group == nil || a.Group.Ending == "" {
		return ""
	}
	return fmt.Sprintf("; its %s was %s", groupName(a.Group, a.Group.ID), endingText(a.Group))
}

// endRemedy says what can be done about an end.
func (a *explainer) endRemedy() string {
	j := a.Job
	completed := j.Run != nil && j.Run.Outcome == rota.OutcomeCompleted
	switch {
	case completed:
		return "Nothing is left to do; to run it once more, create it again: rota job create."
	case a.Redrive != nil && !wasCancelled(a.Redrive):
		return fmt.Sprintf("It was tried anew as %s: rota job explain %s.", jobRef(a.Redrive.ID), a.Redrive.ID)
	case j.Status == rota.StatusRunning && j.Sequel == "":
		return "What follows from that is settled when its worker starts the next time; if it stays so, look with rota verify."
	case j.Sequel == rota.SequelRetry:
		return fmt.Sprintf("It is tried again in the same execution: rota job explain %s.", j.ID)
	case j.Sequel == rota.SequelDead:
		return fmt.Sprintf("When the cause is mended, try it anew: rota dead retry %s.", j.ID)
	}
	return fmt.Sprintf("To run it all the same: rota job retry %s.", j.ID)
}

// running: what runs need not be started.
func (a *explainer) running() {
	j, run := a.Job, a.Job.Run
	switch {
	case run == nil || !run.Open():
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("It was started at %s, and then its process was lost in the middle of a write.", stamp(j.StartedAt)),
			"It is settled when its worker starts the next time; if it stays so, look with rota verify.")
	case run.StaleAfter.Before(a.Now):
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("Worker %s took it at %s and was last heard of at %s; its lease ended at %s.",
				run.Runner, stamp(run.StartedAt), stamp(run.HeartbeatAt), stamp(run.StaleAfter)),
			"It is about to be recorded as FAILED, and is tried again if attempts are left; if it stays so, no server is running: rota serve.")
	case !run.CancelAt.IsZero():
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("Worker %s has been running it since %s, in %s; at %s %s asked it to stop%s.", run.Runner, stamp(run.StartedAt),
				attemptOf(j), stamp(run.CancelAt), cmp.Or(run.CancelBy, "Rota"), inBrackets(run.CancelReason)),
			"It ends when its handler gives way.")
	default:
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("Worker %s has been running it since %s, in %s.", run.Runner, stamp(run.StartedAt), attemptOf(j)),
			fmt.Sprintf("Wait until it ends, or ask it to stop: rota job cancel %s.", j.ID))
	}
}

func attemptOf(j *rota.Job) string {
	return fmt.Sprintf("attempt %d of %d", j.Attempt, j.Policy.MaxAttempts)
}
