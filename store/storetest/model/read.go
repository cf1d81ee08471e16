package model

import (
	"cmp"
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// read runs a read under the lock of the model.
func read[T any](m *Model, read func(*state) (T, error)) (T, error) {
	if m.ended != nil && m.ended() {
		var none T
		return none, rota.Errorf(rota.Unavailable, "view", "the view is closed")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return read(m.state)
}

// Job returns a job with its run.
func (m *Model) Job(_ context.Context, id rota.ID) (*rota.Job, error) {
	return read(m, func(s *state) (*rota.Job, error) {
		j := s.find(id)
		if j == nil || s.hidden(j) {
			return nil, rota.Errorf(rota.NotFound, "job", "there is no job %s", id)
		}
		return withoutToken(j), nil
	})
}

// Jobs lists jobs by id.
func (m *Model) Jobs(_ context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return read(m, func(s *state) ([]*rota.Job, error) {
		jobs := s.matching(&q)
		slices.SortFunc(jobs, byID)
		if !q.Oldest {
			slices.Reverse(jobs)
		}
		if q.Lean {
			return copyPage(jobs, q.Limit, lean), nil
		}
		return copyPage(jobs, q.Limit, withoutToken), nil
	})
}

// FindJobs lists jobs like Jobs. The model examines all of them for each page.
func (m *Model) FindJobs(ctx context.Context, q rota.JobQuery) (page rota.JobPage, err error) {
	if page.Jobs, err = m.Jobs(ctx, q); err == nil && len(page.Jobs) == atMost(q.Limit) {
		page.Next, page.More = page.Jobs[len(page.Jobs)-1].ID, true
	}
	return page, err
}

// CountJobs counts the jobs that Jobs would list.
func (m *Model) CountJobs(_ context.Context, q rota.JobQuery) (int64, error) {
	q.Limit = 0
	if err := q.Validate(); err != nil {
		return 0, err
	}
	return read(m, func(s *state) (int64, error) { return int64(len(s.matching(&q))), nil })
}

// matching returns the jobs that a query selects, unordered.
func (s *state) matching(q *rota.JobQuery) []*rota.Job {
	return s.pick(func(j *rota.Job) bool {
		return !s.hidden(j) &&
			(q.Status == "" || j.Status == q.Status) &&
			(q.Type == "" && !rota.InternalType(j.Type) || j.Type == q.Type) &&
			(q.Template == "" || j.Template == q.Template) &&
			(q.Schedule == "" || j.Schedule == q.Schedule) &&
			(q.GroupID.IsZero() || j.GroupID == q.GroupID) &&
			(q.State == "" || j.State() == q.State) &&
			(!q.Tails || j.Sequel != rota.SequelRetry) &&
			(!q.Dead || s.deadLetter(j)) &&
			s.matchesDetails(q, j) &&
			(q.Before.IsZero() || j.ID.Compare(q.Before) < 0) &&
			j.ID.Compare(q.After) > 0
	})
}

// matchesDetails checks the name, the key, the scope, the error, the times and the text of a job.
func (s *state) matchesDetails(q *rota.JobQuery, j *rota.Job) bool {
	first, failed := j, j
	if q.OfExecution {
		first = s.find(j.ExecutionID)
		if j.Run == nil && !j.RetryOf.IsZero() {
			failed = s.find(j.RetryOf)
		}
	}
	code := ""
	if failed.Run != nil {
		code = failed.Run.ErrorCode
	}
	return (q.Name == "" || j.Name == q.Name) && (!q.Unnamed || j.Name == "") &&
		(q.UniqueKey == "" || j.UniqueKey == q.UniqueKey) &&
		(q.ScopeKind == "" || cmp.Or(j.ScopeKind, rota.GlobalScopeKind) == q.ScopeKind) &&
		(q.ScopeID == "" || cmp.Or(j.ScopeID, rota.GlobalScopeID) == q.ScopeID) &&
		(q.ErrorCode == "" || code == q.ErrorCode) &&
		(q.Text == "" || j.Contains(q.Text) || failed != j && (&rota.Job{Run: &rota.Run{Error: failed.Run.Error}}).Contains(q.Text)) &&
		(q.Since.IsZero() || !first.CreatedAt.Before(q.Since)) &&
		(q.Until.IsZero() || first.CreatedAt.Before(q.Until))
}

// Queue lists the ready jobs in dispatch order.
func (m *Model) Queue(_ context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	return read(m, func(s *state) ([]*rota.Job, error) {
		jobs := s.pick((*rota.Job).Ready)
		slices.SortFunc(jobs, inOrder)
		if !after.IsZero() {
			at := slices.IndexFunc(jobs, func(j *rota.Job) bool { return j.ID == after })
			if at < 0 {
				return nil, rota.Errorf(rota.NotFound, "queue", "job %s is not in the queue", after)
			}
			jobs = jobs[at+1:]
		}
		return copyPage(withoutInternal(jobs), limit, withoutToken), nil
	})
}

// LastAttempt returns the last attempt of one execution.
func (m *Model) LastAttempt(_ context.Context, id rota.ID) (*rota.Job, error) {
	return read(m, func(s *state) (*rota.Job, error) {
		named := s.find(id)
		if named == nil || s.hidden(s.tail(named.ExecutionID)) {
			return nil, rota.Errorf(rota.NotFound, "last attempt", "there is no job %s", id)
		}
		return withoutToken(s.tail(named.ExecutionID)), nil
	})
}

// Execution lists the attempts of one execution.
func (m *Model) Execution(_ context.Context, id rota.ID) ([]*rota.Job, error) {
	return read(m, func(s *state) ([]*rota.Job, error) {
		named := s.find(id)
		if named == nil || s.hidden(s.tail(named.ExecutionID)) {
			return nil, rota.Errorf(rota.NotFound, "execution", "there is no job %s", id)
		}
		jobs := s.pick(func(j *rota.Job) bool { return j.ExecutionID == named.ExecutionID })
		slices.SortFunc(jobs, func(a, b *rota.Job) int { return a.Attempt - b.Attempt })
		return copyPage(jobs, len(jobs), withoutToken), nil
	})
}

// deadLetter reports whether a job is dead and its execution is not redriven.
func (s *state) deadLetter(j *rota.Job) bool {
	return j.Sequel == rota.SequelDead && !s.redriven(j.ExecutionID)
}

// Explain always returns the same reason. Explanations are compared with their expected text,
// not with the model.
func (m *Model) Explain(_ context.Context, id rota.ID) ([]rota.Reason, error) {
	return read(m, func(s *state) ([]rota.Reason, error) {
		if j := s.find(id); j == nil || s.hidden(s.tail(j.ExecutionID)) {
			return nil, rota.Errorf(rota.NotFound, "explain", "there is no job %s", id)
		}
		return []rota.Reason{{Code: rota.ReasonOrder, Text: "It waits.", Remedy: "Wait."}}, nil
	})
}

func atMost(limit int) int {
	if limit == 0 {
		return 100
	}
	return limit
}
