package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func (s *step) enqueue(c *rota.Enqueue) (rota.Reply, *rota.Error) {
	reply := &rota.Enqueued{}
	again := s.alreadyApplied(c)
	for i := range c.Jobs {
		one, err := s.submit(c, i, again)
		if err != nil {
			return nil, err
		}
		reply.Jobs = append(reply.Jobs, one)
	}
	return reply, nil
}

// alreadyApplied reports whether a job of the command exists. Then the command was applied
// before and creates no more jobs.
func (s *step) alreadyApplied(c *rota.Enqueue) bool {
	for i := range c.Jobs {
		if s.find(c.JobID(i)) != nil {
			return true
		}
	}
	return false
}

func (s *step) submit(c *rota.Enqueue, i int, again bool) (rota.Submitted, *rota.Error) {
	n, field := &c.Jobs[i], fmt.Sprintf("jobs[%d]", i)
	if own := s.find(c.JobID(i)); own != nil {
		if !sameRequest(own, n) {
			return rota.Submitted{}, s.refuse(rota.Conflict, field+".id", "another job has this id")
		}
		return rota.Submitted{Job: own}, nil
	}
	if again {
		return rota.Submitted{Job: s.duplicateOf(s.duplicateProbe(n)), Duplicate: true}, nil
	}
	j, err := s.draft(n, c.JobID(i), field)
	if err != nil {
		return rota.Submitted{}, err
	}
	if !j.PlanTime.IsZero() && s.schedule(j.DefinitionName()) != nil {
		return rota.Submitted{}, s.refuse(rota.Conflict, field+".plan_time", "only schedule %s plans jobs of this name", j.DefinitionName())
	}
	if taken := s.duplicateOf(j); taken != nil {
		return rota.Submitted{Job: taken, Duplicate: true}, nil
	}
	s.enterQueue(j)
	s.holdKey(j)
	return rota.Submitted{Job: j}, nil
}

// sameRequest reports whether a job may be the result of a request that was sent before.
func sameRequest(own *rota.Job, n *rota.NewJob) bool {
	sameType := n.Type == "" || own.Type == n.Type
	return sameType && own.Name == requestName(n) && own.Template == n.Template && own.Attempt == 1 && own.Schedule == "" && own.GroupID.IsZero()
}

func requestName(n *rota.NewJob) string {
	if n.Name != "" {
		return n.Name
	}
	return n.Template
}

// duplicateProbe returns the fields of a request that are needed to find its duplicate. It
// refuses nothing, because the request was applied before.
func (s *step) duplicateProbe(n *rota.NewJob) *rota.Job {
	j := &rota.Job{Type: n.Type, Name: requestName(n), UniqueKey: n.UniqueKey, PlanTime: micros(n.PlanTime)}
	if t := s.template(n.Template); t != nil {
		j.Type = t.Spec.Type
	}
	j.ScopeKind, j.ScopeID = storedScope(n)
	return j
}

// duplicateOf returns the job that holds the unique key or the plan key of another, nil if both
// are free.
func (s *step) duplicateOf(j *rota.Job) *rota.Job {
	if holder := s.holder(j.Type, j.UniqueKey); holder != nil {
		return holder
	}
	return s.planned(j)
}

// holder returns the first job of the execution that holds a unique key.
func (s *step) holder(typ, key string) *rota.Job {
	record, taken := s.keys[keyName{typ, key}]
	if key == "" || !taken {
		return nil
	}
	if record.ended && !record.freeAt.IsZero() && !record.freeAt.After(s.now) {
		return nil
	}
	return s.find(record.execution)
}

// planned returns the first attempt that has the same plan key.
func (s *step) planned(like *rota.Job) *rota.Job {
	if like.PlanTime.IsZero() {
		return nil
	}
	return pickOne(s.jobs, func(j *rota.Job) bool {
		return j.Attempt == 1 && j.DefinitionName() == like.DefinitionName() &&
			scopeOf(j) == scopeOf(like) && j.PlanTime.Equal(like.PlanTime)
	})
}

// holdKey takes the unique key of a job for its execution.
func (s *step) holdKey(j *rota.Job) {
	if j.UniqueKey == "" {
		return
	}
	record := keyRecord{execution: j.ID}
	if j.UniqueFor > 0 {
		record.freeAt = micros(j.CreatedAt.Add(j.UniqueFor))
	}
	s.keys[keyName{j.Type, j.UniqueKey}] = record
}

// draft returns the job of a request and its template, before it enters the queue.
func (s *step) draft(n *rota.NewJob, id rota.ID, field string) (*rota.Job, *rota.Error) {
	j := &rota.Job{
		ID: id, ExecutionID: id, Attempt: 1, Type: n.Type, Name: requestName(n), Template: n.Template,
		Params: rota.MergeParams(), PlanTime: micros(n.PlanTime), RunAt: micros(n.RunAt),
		UniqueKey: n.UniqueKey, UniqueFor: n.UniqueFor.Truncate(time.Microsecond),
		Trace: n.Trace, CreatedBy: s.actor(), CreatedAt: s.now,
	}
	j.ScopeKind, j.ScopeID = storedScope(n)
	if n.Params != nil {
		j.Params = slices.Clone(n.Params)
	}
	if n.Delay > 0 {
		j.RunAt = micros(s.now.Add(n.Delay))
	}
	t := &rota.Template{}
	if n.Template != "" {
		if t = s.template(n.Template); t == nil {
			return nil, s.refuse(rota.NotFound, field+".template", "there is no template %s", n.Template)
		}
		if err := s.applyTemplate(j, t, field); err != nil {
			return nil, err
		}
	}
	j.Priority = or(n.Priority, or(t.Spec.Priority, rota.DefaultPriority))
	j.ConcurrencyKey, j.Owner = or(n.ConcurrencyKey, t.Spec.ConcurrencyKey), t.Owner
	j.Policy = s.policy(j.Type, n.Patch(), t.Spec.Policy)
	return j, nil
}

// applyTemplate sets the values of the template in a job, and refuses a job that does not match
// it.
func (s *step) applyTemplate(j *rota.Job, t *rota.Template, field string) *rota.Error {
	switch {
	case t.State == rota.TemplateArchived:
		return s.refuse(rota.Conflict, field+".template", "template %s is archived", t.Name)
	case j.Type != "" && j.Type != t.Spec.Type:
		return s.refuse(rota.Invalid, field+".type", "template %s has type %s", t.Name, t.Spec.Type)
	}
	j.Type = t.Spec.Type
	j.Params = rota.MergeParams(t.Spec.Params, j.Params)
	if len(j.Params) > rota.ParamsMax {
		return s.refuse(rota.Invalid, field+".params", "have %d bytes with those of the template", len(j.Params))
	}
	if j.UniqueKey != "" && j.UniqueFor == 0 {
		j.UniqueFor = t.Spec.UniqueFor
	}
	return nil
}

// policy combines patches with the policy of the type, the first patch first.
func (s *step) policy(typ string, patches ...rota.PolicyPatch) rota.Policy {
	var patch rota.PolicyPatch
	for _, p := range patches {
		patch = patch.Or(p)
	}
	if t := s.typ(typ); t != nil {
		patch = patch.Or(t.Spec.Policy)
	}
	return patch.Policy()
}

// storedScope returns the scope of a request. The global scope is stored as empty.
func storedScope(n *rota.NewJob) (kind, id string) {
	if n.ScopeKind == rota.GlobalScopeKind && n.ScopeID == rota.GlobalScopeID {
		return "", ""
	}
	return n.ScopeKind, n.ScopeID
}

func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}
