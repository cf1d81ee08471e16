package rules

import (
	"fmt"

	"github.com/rotajobs/rota"
)

func decideEnqueue(u *UnitOfWork, c *rota.Enqueue) (rota.Reply, *rota.Error) {
	reply := &rota.Enqueued{Jobs: make([]rota.Submitted, len(c.Jobs))}
	again := alreadyApplied(u, c)
	var refusal *rota.Error
	u.each(len(c.Jobs), func(i int) {
		submitted, refused := enqueueOne(u, c, i, again)
		if refused != nil && refusal == nil {
			refusal = prefixField(fmt.Sprintf("jobs[%d]", i), refused)
		}
		reply.Jobs[i] = submitted
	})
	if refusal != nil {
		return nil, refusal
	}
	return reply, nil
}

// alreadyApplied reports whether an earlier sending of the command was applied.
// The command is atomic, so one existing job is proof. A job that does not
// exist then was a duplicate or has been pruned.
func alreadyApplied(u *UnitOfWork, c *rota.Enqueue) (again bool) {
	ids := u.jobIDs(c)
	u.each(len(ids), func(i int) { again = again || u.newJob(ids[i]) != nil })
	return again
}

// enqueueOne creates a job, unless it exists: as this command's own row, under
// its unique key, or under its plan key.
func enqueueOne(u *UnitOfWork, c *rota.Enqueue, i int, again bool) (rota.Submitted, *rota.Error) {
	nj, id := &c.Jobs[i], u.jobIDs(c)[i]
	if own := u.newJob(id); own != nil {
		if !matchesRequest(own, nj) {
			return rota.Submitted{}, idTaken("id", id)
		}
		return rota.Submitted{Job: withoutToken(own)}, nil
	}
	if !again {
		if refusal := mayUse(u, nj); refusal != nil {
			return rota.Submitted{}, refusal
		}
	}
	typ := typeOf(u, nj)
	if holder := keyHolder(u, typ, nj.UniqueKey); holder != nil {
		return rota.Submitted{Job: withoutToken(holder), Duplicate: true}, nil
	}
	if plan, planned := planOfNew(nj, typ); planned {
		if first := u.job(Plans.get(u, plan)); first != nil {
			return rota.Submitted{Job: withoutToken(first), Duplicate: true}, nil
		}
	}
	if again {
		return rota.Submitted{Duplicate: true}, nil
	}
	j := newJob(u, c.Actor, nj, id)
	enterQueue(u, j, 0)
	u.insert(j)
	holdKey(u, j)
	return rota.Submitted{Job: j}, nil
}

// matchesRequest reports whether an existing job may be the requested one.
func matchesRequest(own *rota.Job, nj *rota.NewJob) bool {
	name := nj.Name
	if name == "" {
		name = nj.Template
	}
	return (nj.Type == "" || own.Type == nj.Type) && own.Name == name && own.Template == nj.Template &&
		own.Attempt == 1 && own.Schedule == "" && own.GroupID.IsZero()
}

func idTaken(field string, id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Field: field, Reason: id.String() + " is the id of another job", Hint: "omit the id, or generate a new one",
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

// withoutToken returns a copy of a job without its lease token.
func withoutToken(j *rota.Job) *rota.Job {
	shown := *j
	if j.Run != nil {
		run := *j.Run
		run.Token = rota.Token{}
		shown.Run = &run
	}
	return &shown
}
