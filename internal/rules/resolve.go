package rules

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

func definitionName(nj *rota.NewJob, typ string) string {
	switch {
	case nj.Name != "":
		return nj.Name
	case nj.Template != "":
		return nj.Template
	}
	return typ
}

func priorityOf(u *UnitOfWork, nj *rota.NewJob) int {
	if nj.Priority == nil && nj.Template != "" {
		if t := Templates.get(u, nj.Template); t != nil {
			return or(t.Spec.Priority, rota.DefaultPriority)
		}
	}
	return or(nj.Priority, rota.DefaultPriority)
}

// templateOf returns the template of a requested job, nil if it has none.
func templateOf(u *UnitOfWork, nj *rota.NewJob) *rota.Template {
	if nj.Template == "" {
		return nil
	}
	return Templates.get(u, nj.Template)
}

func typeOf(u *UnitOfWork, nj *rota.NewJob) string {
	if t := templateOf(u, nj); t != nil {
		return t.Spec.Type
	}
	return nj.Type
}

// mayUse refuses a job whose template does not exist, is archived, or is of
// another type, and a job that would take a schedule's plan time.
func mayUse(u *UnitOfWork, nj *rota.NewJob) *rota.Error {
	if nj.Template != "" {
		t := Templates.get(u, nj.Template)
		if refusal := usable(t, "template", nj.Template); refusal != nil {
			return refusal
		}
		if nj.Type != "" && nj.Type != t.Spec.Type {
			return rota.Invalidf("type", "is %s, but template %s is of type %s; leave the type out", nj.Type, t.Name, t.Spec.Type)
		}
		if n := len(rota.MergeParams(t.Spec.Params, nj.Params)); n > rota.ParamsMax {
			return rota.Invalidf("params", "have %d bytes together with those of template %s; at most %d are allowed", n, t.Name, rota.ParamsMax)
		}
	}
	if nj.PlanTime.IsZero() {
		return nil
	}
	if s := Schedules.get(u, definitionName(nj, typeOf(u, nj))); s != nil {
		return &rota.Error{
			Code: rota.Conflict, Field: "plan_time", Reason: "the plan times of " + s.Name + " belong to the schedule of that name",
			Hint: "give the job another name, or trigger or backfill the schedule",
		}
	}
	return nil
}

// usable refuses a template that does not exist or is archived.
func usable(t *rota.Template, field, name string) *rota.Error {
	switch {
	case t == nil:
		return &rota.Error{
			Code: rota.NotFound, Field: field, Reason: "there is no template " + name, Hint: "declare it first, or check the name",
		}
	case t.State == rota.TemplateArchived:
		return &rota.Error{
			Code: rota.Conflict, Field: field, Reason: "template " + name + " is archived", Hint: "unarchive it, or use another template",
		}
	}
	return nil
}

// newJob returns a job as requested, before it enters the queue.
func newJob(u *UnitOfWork, actor string, nj *rota.NewJob, id rota.ID) *rota.Job {
	j := &rota.Job{
		ID: id, ExecutionID: id, Type: typeOf(u, nj), Name: nj.Name, Template: nj.Template,
		Status: rota.StatusQueued, Priority: priorityOf(u, nj), Attempt: 1,
		PlanTime: micros(nj.PlanTime), RunAt: micros(nj.RunAt), UniqueKey: nj.UniqueKey, UniqueFor: nj.UniqueFor.Truncate(time.Microsecond),
		Trace: nj.Trace, CreatedBy: actor, CreatedAt: u.Now,
	}
	patch := nj.Patch()
	if t := templateOf(u, nj); t != nil {
		j.Params = rota.MergeParams(t.Spec.Params, nj.Params)
		if j.Name == "" {
			j.Name = t.Name
		}
		if j.UniqueKey != "" && j.UniqueFor == 0 {
			j.UniqueFor = t.Spec.UniqueFor
		}
		j.ConcurrencyKey, j.Owner = t.Spec.ConcurrencyKey, t.Owner
		patch = patch.Or(t.Spec.Policy)
	} else if j.Params = nj.Params; len(j.Params) == 0 {
		j.Params = json.RawMessage("{}")
	}
	j.ConcurrencyKey = or(nj.ConcurrencyKey, j.ConcurrencyKey)
	j.Policy = policyOf(u, j.Type, patch)
	if nj.ScopeKind != rota.GlobalScopeKind || nj.ScopeID != rota.GlobalScopeID {
		j.ScopeKind, j.ScopeID = nj.ScopeKind, nj.ScopeID
	}
	if nj.Delay > 0 {
		j.RunAt = micros(u.Now.Add(nj.Delay))
	}
	return j
}

// policyOf fills what a patch leaves open from the type, then from the
// defaults.
func policyOf(u *UnitOfWork, typ string, patch rota.PolicyPatch) rota.Policy {
	if t := Types.get(u, typ); t != nil {
		patch = patch.Or(t.Spec.Policy)
	}
	return patch.Policy()
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// micros truncates a time to microseconds, as stored. The zero time stays zero.
func micros(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// prefixField puts a path in front of the field that a refusal names.
func prefixField(path string, refusal *rota.Error) *rota.Error {
	e := *refusal
	e.Field = path
	if refusal.Field != "" {
		e.Field += "." + refusal.Field
	}
	return &e
}
