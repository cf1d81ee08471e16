package model

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

func (s *step) finish(c *rota.Finish) (rota.Reply, *rota.Error) {
	reply := &rota.Finished{}
	for i := range c.Items {
		reply.Items = append(reply.Items, s.finishOne(s.withWait(c, c.Items[i]), c.Grace))
	}
	return reply, nil
}

// withWait adds to the time since the handler ended how long the command has waited.
func (s *step) withWait(c *rota.Finish, it rota.FinishItem) *rota.FinishItem {
	it.EndedAgo += c.Waited(s.readAt)
	return &it
}

func (s *step) finishOne(it *rota.FinishItem, grace time.Duration) rota.FinishAnswer {
	lost := rota.FinishAnswer{RunID: it.RunID, Code: rota.LeaseLost}
	j := s.jobOfLease(it.LeaseRef)
	if j == nil {
		return lost
	}
	outcome := outcomeOf(j, it)
	switch {
	case j.Run.Open() && graceOver(j, grace, s.endOf(j.Run, it)):
		return lost
	case !j.Run.Open() && graceOver(j, grace, j.Run.FinishedAt): // the server ended it
		return lost
	case j.Run.Open():
		s.closeRun(j, it, outcome)
		s.settle(j, settling{permanent: it.Permanent, retryAt: micros(it.RetryAt)})
	case j.Run.ErrorCode == rota.CodeLeaseExpired:
		return lost
	case j.Run.Outcome != outcome:
		return lost
	}
	return s.finishAnswer(j)
}

// outcomeOf returns the outcome to record for a reported one.
func outcomeOf(j *rota.Job, it *rota.FinishItem) rota.Outcome {
	switch {
	case j.Run.CancelAt.IsZero() || it.Outcome == rota.OutcomeCompleted:
		return it.Outcome
	case it.Outcome == rota.OutcomeCancelled && it.ErrorCode == rota.CodeTimeout && timedOutFirst(j):
		return rota.OutcomeFailed
	}
	return rota.OutcomeCancelled
}

// timedOutFirst reports whether a run exceeded its timeout before it was asked to stop, if it was.
func timedOutFirst(j *rota.Job) bool {
	return j.Policy.Timeout > 0 && (j.Run.CancelAt.IsZero() || j.Run.CancelAt.Sub(j.StartedAt) >= j.Policy.Timeout)
}

// endOf returns when the handler of a run ended.
func (s *step) endOf(r *rota.Run, it *rota.FinishItem) time.Time {
	if started := micros(r.StartedAt); !started.After(s.now) && it.EndedAgo > 0 {
		return latestOf(started, micros(s.now.Add(-it.EndedAgo)))
	}
	return s.now
}

func (s *step) closeRun(j *rota.Job, it *rota.FinishItem, outcome rota.Outcome) {
	r := j.Run
	r.Outcome = outcome
	r.FinishedAt = s.endOf(r, it)
	r.ExitCode = copyOf(it.ExitCode)
	r.RowsAffected = copyOf(it.RowsAffected)
	r.Result = slices.Clone(it.Result)
	r.Error = truncateError(it.Error)
	r.ErrorCode = it.ErrorCode
	if !r.CancelAt.IsZero() && outcome == rota.OutcomeCancelled && (it.ErrorCode == "" || it.ErrorCode == rota.CodeTimeout) {
		r.ErrorCode = rota.CodeCancelled
	}
	r.Artifacts = addArtifacts(r.Artifacts, it.Artifacts)
	if r.LogPath == "" {
		r.LogPath = it.LogPath
	}
	j.FinishedAt = r.FinishedAt
}

func latestOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// finishAnswer returns the answer for a closed run.
func (s *step) finishAnswer(j *rota.Job) rota.FinishAnswer {
	answer := rota.FinishAnswer{RunID: j.Run.ID, Outcome: j.Run.Outcome, Sequel: j.Sequel}
	if retry := s.retryOf(j.ID); retry != nil {
		answer.RetryID, answer.RetryAt = retry.ID, retry.RunAt
	}
	return answer
}

// truncateError cuts an error text that is too long, between two characters.
func truncateError(text string) string {
	const mark = "… (cut)"
	if len(text) <= rota.ErrorMax {
		return text
	}
	n := rota.ErrorMax - len(mark)
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + mark
}
