package rules

import (
	"fmt"

	"github.com/rotajobs/rota"
)

func needEnqueue(n *Need, c *rota.Enqueue) {
	for i, id := range n.unit.jobIDs(c) {
		nj := &c.Jobs[i]
		if n.newJob(id) != nil || !needNew(n, nj) {
			continue
		}
		typ := typeOf(n.unit, nj)
		needHolder(n, nj, typ)
		if plan, planned := planOfNew(nj, typ); planned {
			if id := n.plan(plan); !id.IsZero() {
				n.job(id)
			}
		}
	}
}

// needHolder asks for the job that holds the unique key asked for.
func needHolder(n *Need, nj *rota.NewJob, typ string) {
	if nj.UniqueKey == "" {
		return
	}
	if held := n.key(Key{typ, nj.UniqueKey}); held != nil {
		n.job(held.ExecutionID)
	}
}

func decideEnqueue(w *UnitOfWork, c *rota.Enqueue) (rota.Reply, *rota.Error) {
	reply := &rota.Enqueued{Jobs: make([]rota.Submitted, len(c.Jobs))}
	again := standsAlready(w, c)
	for i := range c.Jobs {
		submitted, refusal := enqueueOne(w, c, i, again)
		if refusal != nil {
			return nil, within(fmt.Sprintf("jobs[%d]", i), refusal)
		}
		reply.Jobs[i] = submitted
	}
	return reply, nil
}

// standsAlready says whether the command was applied before: it is atomic, so
// one job of it that stands is proof. What it did not create then was a
// duplicate, or has been pruned since.
func standsAlready(w *UnitOfWork, c *rota.Enqueue) bool {
	for _, id := range w.jobIDs(c) {
		if w.job(id) != nil {
			return true
		}
	}
	return false
}

// enqueueOne creates a job, unless it stands there already: as this command's
// own row, under its unique key, or under its plan key.
func enqueueOne(w *UnitOfWork, c *rota.Enqueue, i int, again bool) (rota.Submitted, *rota.Error) {
	nj, id := &c.Jobs[i], w.jobIDs(c)[i]
	if own := w.job(id); own != nil {
		if !asked(own, nj) {
			return rota.Submitted{}, otherJob("id", id)
		}
		return rota.Submitted{Job: public(own)}, nil
	}
	if !again {
		if refusal := mayUse(w, nj); refusal != nil {
			return rota.Submitted{}, refusal
		}
	}
	typ := typeOf(w, nj)
	if holder := keyHolder(w, typ, nj.UniqueKey); holder != nil {
		return rota.Submitted{Job: public(holder), Duplicate: true}, nil
	}
	if plan, planned := planOfNew(nj, typ); planned {
		if first := w.job(w.plans[plan]); first != nil {
			return rota.Submitted{Job: public(first), Duplicate: true}, nil
		}
	}
	if again {
		return rota.Submitted{Duplicate: true}, nil
	}
	j := newJob(w, c.Actor, nj, id)
	enter(w, j, 0)
	w.insert(j)
	holdKey(w, j)
	return rota.Submitted{Job: j}, nil
}

// asked says whether a job may be what was asked for, when it was sent before.
func asked(own *rota.Job, nj *rota.NewJob) bool {
	name := nj.Name
	if name == "" {
		name = nj.Template
	}
	return (nj.Type == "" || own.Type == nj.Type) && own.Name == name && own.Template == nj.Template &&
		own.Attempt == 1 && own.Schedule == "" && own.GroupID.IsZero()
}

func otherJob(field string, id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Field: field, Reason: id.String() + " is another job's id", Hint: "leave the id out, or mint a new one",
	}
}

func planOfNew(nj *rota.NewJob, typ string) (Plan, bool) {
	if nj.PlanTime.IsZero() {
		return Plan{}, false
	}
	return PlanOf(&rota.Job{
		Name: definitionName(nj, typ), ScopeKind: nj.ScopeKind, ScopeID: nj.ScopeID, PlanTime: micros(nj.PlanTime),
	})
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
