package rules

import (
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

func decideFinish(u *UnitOfWork, c *rota.Finish) (rota.Reply, *rota.Error) {
	answers := make([]rota.FinishAnswer, len(c.Items))
	u.each(len(c.Items), func(i int) { answers[i] = finishOne(u, c, &c.Items[i]) })
	return &rota.Finished{Items: answers}, nil
}

func finishOne(u *UnitOfWork, c *rota.Finish, item *rota.FinishItem) rota.FinishAnswer {
	lost := rota.FinishAnswer{RunID: item.RunID, Code: rota.LeaseLost}
	j := leased(u, &item.LeaseRef)
	if j == nil {
		return lost
	}
	outcome := recordedOutcome(j, item.Outcome, item.ErrorCode)
	end := endOf(u, j.Run, item.EndedAgo+c.Waited(u.ReadAt))
	switch {
	case j.Run.Open() && graceOver(j, c.Grace, end) != "":
		return lost // Reap ends the run
	case !j.Run.Open() && endedByReap(u, j, c.Grace):
		return lost
	case !j.Run.Open() && (leaseExpired(j.Run) || j.Run.Outcome != outcome):
		return lost
	case !j.Run.Open():
		return finishAnswer(u, j)
	}
	ended := rota.Run{Outcome: outcome, ErrorCode: item.ErrorCode, CancelAt: j.Run.CancelAt}
	failed := ended.ShownOutcome() == rota.OutcomeFailed
	if failed {
		wantRetry(u, j)
	}
	if failed || hasRelations(j) {
		j = u.job(j.ID)
	}
	j = u.edit(j.ID)
	recordResult(j.Run, outcome, item)
	endRunAt(u, j, outcome, end)
	settle(u, c, j, retryOptions{permanent: item.Permanent, retryAt: micros(item.RetryAt)})
	return finishAnswer(u, j)
}

// endedByReap reports whether Reap ended the run of a remote worker that did not
// stop: Finish accepts no end after the grace.
func endedByReap(u *UnitOfWork, j *rota.Job, grace time.Duration) bool {
	if grace == 0 || !j.Run.Incarnation.IsZero() {
		return false
	}
	return graceOver(j, grace, u.job(j.ID).Run.FinishedAt) != "" // a lease is read without its end
}

// recordedOutcome is the outcome stored for a reported one. Once a run was asked
// to stop, every outcome but completion is a cancellation. A run whose timeout
// came before the request failed, and is stored as FAILED: with a request to stop,
// CANCELLED means that the request ended the run.
func recordedOutcome(j *rota.Job, reported rota.Outcome, code string) rota.Outcome {
	if j.Run.CancelAt.IsZero() || reported == rota.OutcomeCompleted {
		return reported
	}
	if _, first := StopCause(j); reported == rota.OutcomeCancelled && code == rota.CodeTimeout && first == rota.CodeTimeout {
		return rota.OutcomeFailed
	}
	return rota.OutcomeCancelled
}

// recordResult stores what the worker reports about the end of a run.
func recordResult(run *rota.Run, outcome rota.Outcome, item *rota.FinishItem) {
	run.ExitCode, run.RowsAffected, run.Result = item.ExitCode, item.RowsAffected, item.Result
	run.Error, run.ErrorCode = truncateError(item.Error), item.ErrorCode
	if cancelled := outcome == rota.OutcomeCancelled && !run.CancelAt.IsZero(); cancelled && (run.ErrorCode == "" || run.ErrorCode == rota.CodeTimeout) {
		run.ErrorCode = rota.CodeCancelled
	}
	addArtifacts(run, item.Artifacts)
	if run.LogPath == "" {
		run.LogPath = item.LogPath
	}
}

// endRun closes a run and its job now.
func endRun(u *UnitOfWork, j *rota.Job, outcome rota.Outcome) { endRunAt(u, j, outcome, u.Now) }

func endRunAt(u *UnitOfWork, j *rota.Job, outcome rota.Outcome, at time.Time) {
	j.Run.Outcome = outcome
	j.Run.FinishedAt = at
	if j.FinishedAt.IsZero() {
		j.FinishedAt = at
	}
}

// endOf returns when a handler ended that ended some time ago: not before its run
// started, and not in the future. What follows from the end, such as the time of a
// retry, counts from now.
func endOf(u *UnitOfWork, run *rota.Run, ago time.Duration) time.Time {
	at := micros(u.Now.Add(-ago))
	if at.Before(run.StartedAt) {
		at = run.StartedAt
	}
	if at.After(u.Now) { // the clock was set back since the run started
		at = u.Now
	}
	return at
}

func finishAnswer(u *UnitOfWork, j *rota.Job) rota.FinishAnswer {
	answer := rota.FinishAnswer{RunID: j.Run.ID, Outcome: j.Run.Outcome, Sequel: j.Sequel}
	if j.Sequel != rota.SequelRetry {
		return answer
	}
	answer.RetryID = Retries.get(u, j.ID)
	if retry := u.job(answer.RetryID); retry != nil {
		answer.RetryAt = retry.RunAt
	}
	return answer
}

const truncationMark = "… (cut)"

// truncateError shortens a long error text at a character boundary.
func truncateError(text string) string {
	if len(text) <= rota.ErrorMax {
		return text
	}
	end := rota.ErrorMax - len(truncationMark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + truncationMark
}

// retryOptions are what the end of a run states about a retry.
type retryOptions struct {
	permanent bool
	retryAt   time.Time
}
