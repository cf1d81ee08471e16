package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// explainEnded explains a job that has ended: how it ended and what can be
// done.
func (a *explainer) explainEnded() {
	reason := a.addReason(rota.ReasonEnded, a.howEnded(), a.endRemedy())
	if a.Redrive != nil {
		reason.Jobs = []rota.ID{a.Redrive.ID}
	}
}

func (a *explainer) howEnded() string {
	j, run, at := a.Job, a.Job.Run, rules.Stamp(a.Job.FinishedAt)
	switch {
	case j.Status == rota.StatusCancelled:
		return fmt.Sprintf("It was cancelled at %s, before it started%s.", at, a.withGroup())
	case run == nil || run.Open():
		return fmt.Sprintf("It ended at %s, and no run records the outcome.", at)
	case j.Sequel == rota.SequelDead:
		return fmt.Sprintf("It failed for good at %s, in %s%s.", at, attemptOf(j), afterColon(errorOf(run)))
	case run.ShownOutcome() == rota.OutcomeFailed:
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

// withGroup states that the group of a cancelled job was ended.
func (a *explainer) withGroup() string {
	if a.Group == nil || a.Group.Ending == "" {
		return ""
	}
	return fmt.Sprintf("; its %s was %s", groupName(a.Group, a.Group.ID), endingText(a.Group))
}

// endRemedy returns what can be done about an end.
func (a *explainer) endRemedy() string {
	j := a.Job
	completed := j.Run != nil && j.Run.Outcome == rota.OutcomeCompleted
	switch {
	case completed:
		return fmt.Sprintf("Nothing is left to do; to run it again: rota job run-again %s.", j.ID)
	case a.Redrive != nil && a.Redrive.State() != rota.StateCancelled:
		return fmt.Sprintf("It was retried as %s: rota job explain %s.", rules.JobRef(a.Redrive.ID), a.Redrive.ID)
	case j.Status == rota.StatusRunning && j.Sequel == "":
		return "Its worker settles this at its next start; if it does not, check the store with rota verify."
	case j.Sequel == rota.SequelRetry:
		return fmt.Sprintf("It is retried in the same execution: rota job explain %s.", j.ID)
	case j.Sequel == rota.SequelDead:
		return fmt.Sprintf("Fix the cause, then retry it: rota dead retry %s.", j.ID)
	}
	return fmt.Sprintf("To run it anyway: rota job retry %s.", j.ID)
}

// running explains a job that runs.
func (a *explainer) running() {
	j, run := a.Job, a.Job.Run
	switch {
	case run == nil || !run.Open():
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("It was started at %s, and its process ended in the middle of a write.", rules.Stamp(j.StartedAt)),
			"Its worker settles this at its next start; if it does not, check the store with rota verify.")
	case run.StaleAfter.Before(a.Now):
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("Worker %s took it at %s and sent its last heartbeat at %s; its lease ended at %s.",
				run.Runner, rules.Stamp(run.StartedAt), rules.Stamp(run.HeartbeatAt), rules.Stamp(run.StaleAfter)),
			"It will soon be recorded as FAILED, and is retried if attempts are left; if this does not happen, no server is running: rota serve.")
	case !run.CancelAt.IsZero():
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("Worker %s has been running it since %s, in %s; at %s %s asked it to stop%s.", run.Runner, rules.Stamp(run.StartedAt),
				attemptOf(j), rules.Stamp(run.CancelAt), cmp.Or(run.CancelBy, "Rota"), inBrackets(run.CancelReason)),
			"It ends when its handler returns.")
	default:
		a.addReason(rota.ReasonRunning,
			fmt.Sprintf("Worker %s has been running it since %s, in %s.", run.Runner, rules.Stamp(run.StartedAt), attemptOf(j)),
			fmt.Sprintf("Wait until it ends, or ask it to stop: rota job cancel %s.", j.ID))
	}
}

func attemptOf(j *rota.Job) string {
	return fmt.Sprintf("attempt %d of %d", j.Attempt, j.Policy.MaxAttempts)
}
