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
	outcome := it.Outcome
	if !j.Run.CancelAt.IsZero() && outcome != rota.OutcomeCompleted {
		outcome = rota.OutcomeCancelled
	}
	switch {
	case j.Run.Open() && graceOver(j, grace, s.endOf(j.Run, it)):
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
	if !r.CancelAt.IsZero() && outcome == rota.OutcomeCancelled && it.ErrorCode == "" {
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
