package rules

import (
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

func needFinish(n *Need, c *rota.Finish) {
	for i := range c.Items {
		item := &c.Items[i]
		j := n.lease(item.JobID)
		if j == nil || j.Run == nil {
			continue
		}
		if !j.Run.Open() {
			if retry := n.retry(j.ID); !retry.IsZero() {
				n.job(retry)
			}
			continue
		}
		if hasCompany(j) {
			if j = n.job(item.JobID); j == nil {
				continue
			}
		}
		fails := isFailure(recorded(j.Run, item.Outcome), item.ErrorCode, j.Run)
		if fails {
			needRetry(n, j)
		}
		needEnd(n, j, fails && (item.Permanent || j.Attempt >= j.Policy.MaxAttempts))
	}
}

func decideFinish(w *UnitOfWork, c *rota.Finish) (rota.Reply, *rota.Error) {
	answers := make([]rota.FinishAnswer, len(c.Items))
	for i := range c.Items {
		answers[i] = finishOne(w, c, &c.Items[i])
	}
	return &rota.Finished{Items: answers}, nil
}

func finishOne(w *UnitOfWork, c *rota.Finish, item *rota.FinishItem) rota.FinishAnswer {
	lost := rota.FinishAnswer{RunID: item.RunID, Code: rota.LeaseLost}
	j := leased(w, &item.LeaseRef)
	if j == nil {
		return lost
	}
	outcome := recorded(j.Run, item.Outcome)
	if !j.Run.Open() {
		if takenAway(j.Run) || j.Run.Outcome != outcome {
			return lost
		}
		return finishAnswer(w, j)
	}
	j = w.edit(j.ID)
	tell(w, j.Run, item)
	endRun(w, j, outcome)
	settle(w, c, j, ending{permanent: item.Permanent, retryAt: micros(item.RetryAt)})
	return finishAnswer(w, j)
}

// recorded is the outcome that is written for the one that was told: once
// somebody has asked a run to stop, anything but completion is a cancellation.
func recorded(run *rota.Run, told rota.Outcome) rota.Outcome {
	if !run.CancelAt.IsZero() && told != rota.OutcomeCompleted {
		return rota.OutcomeCancelled
	}
	return told
}

// tell writes what the worker has to say about the end.
func tell(w *UnitOfWork, run *rota.Run, item *rota.FinishItem) {
	run.ExitCode, run.RowsAffected, run.Result = item.ExitCode, item.RowsAffected, item.Result
	run.Error, run.ErrorCode = cut(item.Error), item.ErrorCode
	if run.ErrorCode == "" && recorded(run, item.Outcome) == rota.OutcomeCancelled && !run.CancelAt.IsZero() {
		run.ErrorCode = rota.CodeCancelled
	}
	addArtifacts(run, item.Artifacts)
	if run.LogPath == "" {
		run.LogPath = item.LogPath
	}
}

// endRun closes a run and its job.
func endRun(w *UnitOfWork, j *rota.Job, outcome rota.Outcome) {
	j.Run.Outcome = outcome
	j.Run.FinishedAt = w.Now
	if j.FinishedAt.IsZero() {
		j.FinishedAt = w.Now
	}
}

func finishAnswer(w *UnitOfWork, j *rota.Job) rota.FinishAnswer {
	answer := rota.FinishAnswer{RunID: j.Run.ID, Outcome: j.Run.Outcome, Sequel: j.Sequel}
	if j.Sequel != rota.SequelRetry {
		return answer
	}
	answer.RetryID = w.retries[j.ID]
	if retry := w.job(answer.RetryID); retry != nil {
		answer.RetryAt = retry.RunAt
	}
	return answer
}

const cutMark = "… (cut)"

// cut shortens an error text that is too long, at the border of a letter.
func cut(text string) string {
	if len(text) <= rota.ErrorMax {
		return text
	}
	end := rota.ErrorMax - len(cutMark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}

// ending is what the end of a run says about a retry.
type ending struct {
	permanent bool
	retryAt   time.Time
}
