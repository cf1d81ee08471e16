package model

import (
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// view runs a read alone, on a state that nobody changes meanwhile.
func view[T any](m *Model, read func(*state) (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return read(m.state)
}

// Job returns a job with its run.
func (m *Model) Job(_ context.Context, id rota.ID) (*rota.Job, error) {
	return view(m, func(s *state) (*rota.Job, error) {
		j := s.find(id)
		if j == nil {
			return nil, rota.Errorf(rota.NotFound, "job", "there is no job %s", id)
		}
		return shown(j), nil
	})
}

// Jobs lists jobs by id, newest first.
func (m *Model) Jobs(_ context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return view(m, func(s *state) ([]*rota.Job, error) {
		jobs := s.pick(func(j *rota.Job) bool {
			return (q.Status == "" || j.Status == q.Status) &&
				(q.Type == "" || j.Type == q.Type) &&
				(q.Before.IsZero() || j.ID.Compare(q.Before) < 0)
		})
		slices.SortFunc(jobs, byID)
		slices.Reverse(jobs)
		return shownAll(jobs, q.Limit), nil
	})
}

// Queue lists the ready jobs in dispatch order.
func (m *Model) Queue(_ context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	return view(m, func(s *state) ([]*rota.Job, error) {
		jobs := s.pick((*rota.Job).Ready)
		slices.SortFunc(jobs, inOrder)
		if !after.IsZero() {
			at := slices.IndexFunc(jobs, func(j *rota.Job) bool { return j.ID == after })
			if at < 0 {
				return nil, rota.Errorf(rota.NotFound, "queue", "job %s is not in the queue", after)
			}
			jobs = jobs[at+1:]
		}
		return shownAll(jobs, limit), nil
	})
}

// Execution lists the attempts of one execution.
func (m *Model) Execution(_ context.Context, id rota.ID) ([]*rota.Job, error) {
	return view(m, func(s *state) ([]*rota.Job, error) {
		named := s.find(id)
		if named == nil {
			return nil, rota.Errorf(rota.NotFound, "execution", "there is no job %s", id)
		}
		jobs := s.pick(func(j *rota.Job) bool { return j.ExecutionID == named.ExecutionID })
		slices.SortFunc(jobs, func(a, b *rota.Job) int { return a.Attempt - b.Attempt })
		return shownAll(jobs, len(jobs)), nil
	})
}

// NextDue is the earliest run_at of a delayed job.
func (m *Model) NextDue(context.Context) (time.Time, error) {
	return view(m, func(s *state) (time.Time, error) {
		held := s.pick(func(j *rota.Job) bool { return j.Status == rota.StatusQueued && j.Hold&rota.HoldDelay != 0 })
		if len(held) == 0 {
			return time.Time{}, nil
		}
		return slices.MinFunc(held, byRunAt).RunAt, nil
	})
}

// Audit lists the audit as it was written.
func (m *Model) Audit(_ context.Context, after int64, limit int) ([]rota.AuditEntry, error) {
	return view(m, func(s *state) ([]rota.AuditEntry, error) {
		var entries []rota.AuditEntry
		for _, e := range s.audit {
			if e.Seq > after {
				entries = append(entries, e)
			}
		}
		return entries[:min(len(entries), atMost(limit))], nil
	})
}

// shownAll copies the first jobs of a list out.
func shownAll(jobs []*rota.Job, limit int) []*rota.Job {
	jobs = jobs[:min(len(jobs), atMost(limit))]
	out := make([]*rota.Job, len(jobs))
	for i, j := range jobs {
		out[i] = shown(j)
	}
	return out
}

func atMost(limit int) int {
	if limit == 0 {
		return 100
	}
	return limit
}
