package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// Built-in types whose params name other things that run.
const (
	typeExec = "exec" // starts commands
	typeCall = "call" // calls a procedure of a target, or a handler of the server
)

// fixedParams are the params of built-in types that say what runs, where, and with which role. A caller who may only execute a
// job cannot change them.
var fixedParams = map[string][]string{
	"sql":    {"statement", "target", "run_as"},
	typeCall: {"procedure", "args", "target", "run_as"},
	typeExec: {"command", "args", "env", "stdin", "dir", "user", "run_as"},
	"http":   {"url", "headers", "method", "body", "expect"},
}

// fixedOf returns the fixed params that a document sets, by their names in it. Handlers read names without regard to case.
func fixedOf(typ string, params json.RawMessage) map[string]json.RawMessage {
	fixed := fixedParams[typ]
	var fields map[string]json.RawMessage
	if len(fixed) == 0 || len(params) == 0 || json.Unmarshal(params, &fields) != nil {
		return nil // Validate refuses what is no object
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(fixed, func(f string) bool { return strings.EqualFold(f, name) })
	})
	return fields
}

// sameFixed reports whether two documents have the same fixed params.
func sameFixed(typ string, a, b json.RawMessage) bool {
	return maps.EqualFunc(fixedOf(typ, a), fixedOf(typ, b), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// overrides refuses params that change what a template runs, unless the identity may alter the template: the job runs with
// the rights of its owner. The other layers are the params under the given ones, which may name a role.
func (k *check) overrides(t *object, given json.RawMessage, under ...json.RawMessage) error {
	set := slices.Sorted(maps.Keys(fixedOf(t.typ, given)))
	if len(set) == 0 {
		return nil
	}
	if !k.may(rota.AlterJob, t) {
		refusal := k.missing(rota.AlterJob, t)
		refusal.Reason += fmt.Sprintf(", and a caller who may only execute it cannot set %s", strings.ToLower(set[0]))
		return refusal
	}
	return k.runs(t.typ, rota.MergeParams(append(under, given)...), t)
}

// runs checks what a new job or definition runs: EXECUTE EXTERNAL JOB for commands, and membership in the role that it
// runs as. What a call names counts like a job of that type.
func (k *check) runs(typ string, params json.RawMessage, o *object) error {
	if typ == typeExec && !k.mayExternal(o) {
		if o != nil && o.exists {
			return k.missing(rota.ExecuteExternalJob, o)
		}
		return k.missingOnAll(rota.ExecuteExternalJob)
	}
	if err := k.runAs(typ, params); err != nil {
		return err
	}
	if handler, args := calledHandler(typ, params); handler != "" {
		return k.runs(handler, args, o)
	}
	return nil
}

func (k *check) mayExternal(o *object) bool {
	if o == nil {
		return k.onAll(rota.ExecuteExternalJob)
	}
	return k.may(rota.ExecuteExternalJob, o)
}

// calledHandler returns the type of the handler that a call without a target names, and its params.
func calledHandler(typ string, params json.RawMessage) (handler string, args json.RawMessage) {
	if typ != typeCall || len(params) == 0 {
		return "", nil
	}
	var call struct {
		Procedure string            `json:"procedure"`
		Args      []json.RawMessage `json:"args"`
		Target    string            `json:"target"`
	}
	_ = json.Unmarshal(params, &call) // of another kind: the handler refuses it
	if call.Target != "" {
		return "", nil
	}
	if len(call.Args) > 0 {
		args = call.Args[0]
	}
	return call.Procedure, args
}

// runAs requires membership in the role of the params.
func (k *check) runAs(typ string, params json.RawMessage) error {
	role := RunAs(typ, params)
	if role == "" || k.isMember(k.user, role) {
		return nil
	}
	return &rota.Error{
		Code: rota.Denied, Reason: fmt.Sprintf("user %s is not a member of role %s, which the job runs as", k.user, role),
		Hint: fmt.Sprintf("an administrator can change that: GRANT %s TO %s", role, k.user),
	}
}

// RunAs returns the role that a job of a type runs as, or an empty text.
func RunAs(typ string, params json.RawMessage) string {
	if !slices.Contains(fixedParams[typ], "run_as") || len(params) == 0 {
		return ""
	}
	var fields struct {
		RunAs string `json:"run_as"`
	}
	_ = json.Unmarshal(params, &fields) // of another kind: the handler refuses it
	return fields.RunAs
}

// changesParams checks new params of a job. They may change what it runs only if the identity may decide that.
func (k *check) changesParams(id rota.ID, change func(was json.RawMessage) json.RawMessage) error {
	j, err := k.store.LastAttempt(k.ctx, id)
	if err != nil {
		return err
	}
	is := change(j.Params)
	if sameFixed(j.Type, j.Params, is) {
		return nil
	}
	t, err := k.decides(j)
	if err != nil {
		return err
	}
	return k.runs(j.Type, is, t)
}

// decides requires that the identity may decide what a job runs: because it runs with the rights of the identity, or with
// ALTER JOB on its template, if that still belongs to the user whose rights the job runs with. It returns the template, nil
// if it is not that of the job any more.
func (k *check) decides(j *rota.Job) (*object, error) {
	t, err := k.templateOf(j)
	if err != nil {
		return nil, err
	}
	own := j.RunsFor() == k.user
	if own {
		before, err := k.objects.isBefore(k.ctx, j, k.since)
		if err != nil {
			return nil, err
		}
		own = !before
	}
	switch {
	case k.onAll(rota.AlterJob), own, t != nil && k.may(rota.AlterJob, t):
		return t, nil
	case t == nil:
		return nil, k.missingOnAll(rota.AlterJob)
	}
	refusal := k.missing(rota.AlterJob, t)
	refusal.Reason += ", which decides what the job runs"
	return nil, refusal
}

// templateOf returns the template of a job, or nil if it was dropped or recreated since, or has another owner: the job still
// runs with the rights of the former one.
func (k *check) templateOf(j *rota.Job) (*object, error) {
	if j.Template == "" {
		return nil, nil
	}
	t, err := k.object(kindTemplate, j.Template)
	if err != nil || !t.exists || t.owner != j.RunsFor() {
		return nil, err
	}
	before, err := k.objects.isBefore(k.ctx, j, t.since)
	if err != nil || before {
		return nil, err
	}
	return t, nil
}

// roleOfSchedules refuses params of a template that its schedules run as a role that the identity is not a member of.
func (k *check) roleOfSchedules(c *rota.PutTemplate, t *object) error {
	if t.vacant() || k.admin || !slices.Contains(fixedParams[c.Spec.Type], "run_as") || c.Spec.Type == t.typ && sameFixed(t.typ, t.params, c.Spec.Params) {
		return nil
	}
	schedules, err := k.schedulesOf(c.Name)
	if err != nil {
		return err
	}
	for _, s := range schedules {
		if err := k.runAs(c.Spec.Type, s.params); err != nil {
			return err
		}
	}
	return nil
}
