package rules

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

func needEnqueue(n *Need, c *rota.Enqueue) {
	for i, id := range n.world.jobIDs(c) {
		nj := &c.Jobs[i]
		n.tail(or(nj.Priority, rota.DefaultPriority))
		if n.job(id) != nil {
			continue
		}
		if nj.UniqueKey != "" {
			if held := n.key(Key{nj.Type, nj.UniqueKey}); held != nil {
				n.job(held.ExecutionID)
			}
		}
		if plan, planned := planOfNew(nj); planned {
			if id := n.plan(plan); !id.IsZero() {
				n.job(id)
			}
		}
	}
}

func decideEnqueue(w *World, c *rota.Enqueue) (rota.Reply, *rota.Error) {
	reply := &rota.Enqueued{Jobs: make([]rota.Submitted, len(c.Jobs))}
	again := standsAlready(w, c)
	for i := range c.Jobs {
		submitted, refusal := enqueueOne(w, c, i, again)
		if refusal != nil {
			return nil, refusal
		}
		reply.Jobs[i] = submitted
	}
	return reply, nil
}

// standsAlready says whether the command was applied before: it is atomic, so
// one job of it that stands is proof. What it did not create then was a
// duplicate, or has been pruned since.
func standsAlready(w *World, c *rota.Enqueue) bool {
	for _, id := range w.jobIDs(c) {
		if w.job(id) != nil {
			return true
		}
	}
	return false
}

// enqueueOne creates a job, unless it stands there already: as this command's
// own row, under its unique key, or under its plan key.
func enqueueOne(w *World, c *rota.Enqueue, i int, again bool) (rota.Submitted, *rota.Error) {
	nj, id := &c.Jobs[i], w.jobIDs(c)[i]
	if own := w.job(id); own != nil {
		if own.Type != nj.Type || own.Name != nj.Name || own.Attempt != 1 {
			return rota.Submitted{}, &rota.Error{
				Code: rota.Conflict, Field: fmt.Sprintf("jobs[%d].id", i),
				Reason: fmt.Sprintf("%s is another job's id", id), Hint: "leave the id out, or mint a new one",
			}
		}
		return rota.Submitted{Job: public(own)}, nil
	}
	if holder := keyHolder(w, nj); holder != nil {
		return rota.Submitted{Job: public(holder), Duplicate: true}, nil
	}
	if plan, planned := planOfNew(nj); planned {
		if first := w.job(w.plans[plan]); first != nil {
			return rota.Submitted{Job: public(first), Duplicate: true}, nil
		}
	}
	if again {
		return rota.Submitted{Duplicate: true}, nil
	}
	j := newJob(w, c, nj, id)
	w.insert(j)
	holdKey(w, j)
	return rota.Submitted{Job: j}, nil
}

func newJob(w *World, c *rota.Enqueue, nj *rota.NewJob, id rota.ID) *rota.Job {
	j := &rota.Job{
		ID: id, ExecutionID: id, Type: nj.Type, Name: nj.Name, Params: nj.Params,
		Status: rota.StatusQueued, Priority: or(nj.Priority, rota.DefaultPriority), Attempt: 1, Policy: policyOf(nj),
		PlanTime: micros(nj.PlanTime), RunAt: micros(nj.RunAt), UniqueKey: nj.UniqueKey, UniqueFor: nj.UniqueFor.Truncate(time.Microsecond),
		CreatedBy: c.Actor, CreatedAt: w.Now,
	}
	if len(j.Params) == 0 {
		j.Params = json.RawMessage("{}")
	}
	if nj.ScopeKind != rota.GlobalScopeKind || nj.ScopeID != rota.GlobalScopeID {
		j.ScopeKind, j.ScopeID = nj.ScopeKind, nj.ScopeID
	}
	if nj.Delay > 0 {
		j.RunAt = micros(w.Now.Add(nj.Delay))
	}
	place(w, j)
	return j
}

// place gives a job that enters the queue its position, and holds it back if
// its time has not come.
func place(w *World, j *rota.Job) {
	j.Position = w.append(j.Priority)
	if j.RunAt.After(w.Now) {
		j.Hold = rota.HoldDelay
		return
	}
	j.QueuedAt = w.Now
}

func policyOf(nj *rota.NewJob) rota.Policy {
	return rota.Policy{
		MaxAttempts: or(nj.MaxRetries, rota.DefaultMaxRetries) + 1,
		Backoff:     or(nj.Backoff, rota.DefaultBackoff).Truncate(time.Microsecond),
		BackoffMax:  or(nj.BackoffMax, 0).Truncate(time.Microsecond),
		Jitter:      or(nj.Jitter, 0),
		Timeout:     or(nj.Timeout, rota.DefaultTimeout).Truncate(time.Microsecond),
	}
}

func planOfNew(nj *rota.NewJob) (Plan, bool) {
	if nj.PlanTime.IsZero() {
		return Plan{}, false
	}
	return PlanOf(&rota.Job{
		Type: nj.Type, Name: nj.Name, ScopeKind: nj.ScopeKind, ScopeID: nj.ScopeID, PlanTime: micros(nj.PlanTime),
	})
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// micros cuts a time to what is stored. The zero time stays zero.
func micros(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// public is a copy of a job as anybody may see it: without the proof of its
// lease.
func public(j *rota.Job) *rota.Job {
	shown := *j
	if j.Run != nil {
		run := *j.Run
		run.Token = rota.Token{}
		shown.Run = &run
	}
	return &shown
}
