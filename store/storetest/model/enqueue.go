package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func (s *step) enqueue(c *rota.Enqueue) (rota.Reply, *rota.Error) {
	reply := &rota.Enqueued{}
	again := s.stands(c)
	for i := range c.Jobs {
		one, err := s.submit(c, i, again)
		if err != nil {
			return nil, err
		}
		reply.Jobs = append(reply.Jobs, one)
	}
	return reply, nil
}

// stands says whether a job of the command is there: then it was applied, and
// creates nothing more.
func (s *step) stands(c *rota.Enqueue) bool {
	for i := range c.Jobs {
		if s.find(c.JobID(i)) != nil {
			return true
		}
	}
	return false
}

func (s *step) submit(c *rota.Enqueue, i int, again bool) (rota.Submitted, *rota.Error) {
	n, id := &c.Jobs[i], c.JobID(i)
	if own := s.find(id); own != nil {
		if own.Type != n.Type || own.Name != n.Name || own.Attempt != 1 {
			err := rota.Errorf(rota.Conflict, "enqueue", "another job has this id")
			err.Field = fmt.Sprintf("jobs[%d].id", i)
			return rota.Submitted{}, err
		}
		return rota.Submitted{Job: shown(own)}, nil
	}
	if holder := s.holder(n); holder != nil {
		return rota.Submitted{Job: shown(holder), Duplicate: true}, nil
	}
	if planned := s.planned(n); planned != nil {
		return rota.Submitted{Job: shown(planned), Duplicate: true}, nil
	}
	if again {
		return rota.Submitted{Duplicate: true}, nil
	}
	job := s.create(c, n, id)
	return rota.Submitted{Job: shown(job)}, nil
}

// holder is the first job of the execution that holds the unique key.
func (s *step) holder(n *rota.NewJob) *rota.Job {
	record, taken := s.keys[keyName{n.Type, n.UniqueKey}]
	if n.UniqueKey == "" || !taken {
		return nil
	}
	if record.ended && !record.freeAt.IsZero() && !record.freeAt.After(s.now) {
		return nil
	}
	return s.find(record.execution)
}

// planned is the first attempt that has the same plan key.
func (s *step) planned(n *rota.NewJob) *rota.Job {
	if n.PlanTime.IsZero() {
		return nil
	}
	want := rota.Job{Type: n.Type, Name: n.Name}
	kind, scope := storedScope(n)
	for _, j := range s.jobs {
		if j.Attempt == 1 && j.DefinitionName() == want.DefinitionName() &&
			j.ScopeKind == kind && j.ScopeID == scope && j.PlanTime.Equal(cut(n.PlanTime)) {
			return j
		}
	}
	return nil
}

func (s *step) create(c *rota.Enqueue, n *rota.NewJob, id rota.ID) *rota.Job {
	j := &rota.Job{
		ID: id, ExecutionID: id, Type: n.Type, Name: n.Name, Params: slices.Clone(n.Params),
		Status: rota.StatusQueued, Priority: or(n.Priority, 0), Position: s.end(or(n.Priority, 0)),
		Attempt: 1, Policy: policy(n),
		PlanTime: cut(n.PlanTime), RunAt: cut(n.RunAt), UniqueKey: n.UniqueKey, UniqueFor: n.UniqueFor.Truncate(time.Microsecond),
		CreatedBy: c.Actor, CreatedAt: s.now,
	}
	j.ScopeKind, j.ScopeID = storedScope(n)
	if n.Params == nil {
		j.Params = json.RawMessage("{}")
	}
	if n.Delay > 0 {
		j.RunAt = cut(s.now.Add(n.Delay))
	}
	s.place(j)
	s.jobs = append(s.jobs, j)
	s.holdKey(j)
	return j
}

func (s *step) holdKey(j *rota.Job) {
	if j.UniqueKey == "" {
		return
	}
	record := keyRecord{execution: j.ID}
	if j.UniqueFor > 0 {
		record.freeAt = cut(j.CreatedAt.Add(j.UniqueFor))
	}
	s.keys[keyName{j.Type, j.UniqueKey}] = record
}

// storedScope keeps the global scope empty, however it was written.
func storedScope(n *rota.NewJob) (kind, id string) {
	if n.ScopeKind == rota.GlobalScopeKind && n.ScopeID == rota.GlobalScopeID {
		return "", ""
	}
	return n.ScopeKind, n.ScopeID
}

func policy(n *rota.NewJob) rota.Policy {
	return rota.Policy{
		MaxAttempts: or(n.MaxRetries, rota.DefaultMaxRetries) + 1,
		Backoff:     or(n.Backoff, rota.DefaultBackoff).Truncate(time.Microsecond),
		BackoffMax:  or(n.BackoffMax, 0).Truncate(time.Microsecond),
		Jitter:      or(n.Jitter, 0),
		Timeout:     or(n.Timeout, rota.DefaultTimeout).Truncate(time.Microsecond),
	}
}

func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}
