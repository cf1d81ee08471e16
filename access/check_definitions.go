package access

import (
	"slices"

	"github.com/rotajobs/rota"
)

// putTemplate requires CREATE JOB for a new template, else ALTER JOB.
func (k *check) putTemplate(c *rota.PutTemplate) error {
	t, err := k.target(kindTemplate, c.Name, c.Mode)
	if err != nil {
		return err
	}
	if err := k.put(t); err != nil {
		return err
	}
	if t.vacant() {
		if err := k.nameIsFree(kindSchedule, c.Name); err != nil {
			return err
		}
	}
	if c.Recreate && !t.vacant() { // it gets another owner
		if err := k.replace(t); err != nil {
			return err
		}
	}
	if err := k.runs(c.Spec.Type, c.Spec.Params, t); err != nil {
		return err
	}
	if err := k.roleOfSchedules(c, t); err != nil {
		return err
	}
	if err := k.putWebhooks(c, t); err != nil {
		return err
	}
	k.make(t, t.vacant() || c.Recreate, object{typ: c.Spec.Type, params: c.Spec.Params, webhooks: c.Spec.Webhooks})
	return nil
}

// nameIsFree refuses a new definition if the definition of the other kind with its name belongs to another user. A grant is
// for both, so that neither owner could grant or revoke privileges.
func (k *check) nameIsFree(kind, name string) error {
	o, err := k.target(kind, name, rota.PutCreate)
	if err != nil || o.vacant() || k.may(rota.AlterJob, o) {
		return err
	}
	return nameTaken(name)
}

func nameTaken(name string) *rota.Error {
	return &rota.Error{Code: rota.Denied, Reason: "the name " + name + " is taken", Hint: "choose another name"}
}

// vacant reports whether a definition does not exist, or is the template of a dropped one, which a new one takes over.
func (o *object) vacant() bool { return !o.exists || o.owner == "" }

// put requires CREATE JOB or ALTER JOB. A name that is taken by a definition that the identity may not see is refused as
// Denied to an identity that may create one, which then knows that the name is taken, and nothing else. To others the
// definition does not exist.
func (k *check) put(o *object) error {
	if o.vacant() {
		return k.create(o.name)
	}
	if k.may(rota.AlterJob, o) {
		return nil
	}
	if !k.reaches(o.name) {
		return k.outOfToken()
	}
	if !k.seesObject(o) {
		if err := k.create(o.name); err != nil {
			return err
		}
		return nameTaken(o.name)
	}
	return k.missing(rota.AlterJob, o)
}

// replace requires DROP JOB and CREATE JOB.
func (k *check) replace(o *object) error {
	if err := k.onObject(o, rota.DropJob); err != nil {
		return err
	}
	return k.create(o.name)
}

// unarchive requires ALTER JOB. The template of a dropped definition has no owner, and only an administrator may bring it
// back: the reply would show it to others. A new definition of that name overwrites it.
func (k *check) unarchive(c *rota.Unarchive) error {
	t, err := k.object(kindTemplate, c.Name)
	if err != nil {
		return err
	}
	if t.exists && t.vacant() {
		if !k.unrestricted() {
			return k.orHidden(t, k.missingOnAll(rota.Admin))
		}
		k.make(t, true, *t)
		return nil
	}
	return k.onObject(t, rota.AlterJob)
}

// putSchedule requires CREATE JOB for a new schedule, else ALTER JOB. A new template of the schedule needs EXECUTE JOB,
// and each dependency must be visible.
func (k *check) putSchedule(c *rota.PutSchedule) error {
	s, err := k.target(kindSchedule, c.Name, c.Mode)
	if err != nil {
		return err
	}
	if err := k.put(s); err != nil {
		return err
	}
	if !s.exists {
		if err := k.nameIsFree(kindTemplate, c.Name); err != nil {
			return err
		}
	}
	if c.Recreate && s.exists { // it gets another owner
		if err := k.replace(s); err != nil {
			return err
		}
	}
	t, err := k.object(kindTemplate, c.Spec.Template)
	if err != nil {
		return err
	}
	if !s.exists || c.Recreate || s.template != c.Spec.Template {
		if err := k.onObject(t, rota.ExecuteJob); err != nil {
			return err
		}
	}
	if err := k.scheduleRuns(c, s, t); err != nil {
		return err
	}
	for _, name := range c.Spec.DependsOn {
		if err := k.dependency(name); err != nil {
			return err
		}
	}
	k.make(s, !s.exists || c.Recreate, object{template: c.Spec.Template, params: c.Spec.Params})
	return nil
}

// scheduleRuns checks what the jobs of a schedule run. They run with the rights of the owner of the template, so the params
// of a schedule may set what runs only if the identity may alter the template. Params that stay as they are need nothing.
func (k *check) scheduleRuns(c *rota.PutSchedule, s, t *object) error {
	if s.exists && !c.Recreate && s.template == t.name && sameFixed(t.typ, s.params, c.Spec.Params) {
		return nil
	}
	if err := k.overrides(t, c.Spec.Params, t.params); err != nil {
		return err
	}
	return k.runs(t.typ, c.Spec.Params, s)
}

// dependency requires that a schedule is visible.
func (k *check) dependency(name string) error {
	o, err := k.object(kindSchedule, name)
	if err != nil || !o.exists || k.admin {
		return err // the rules refuse one that does not exist
	}
	if k.seesObject(o) {
		return nil
	}
	return notFound(o.kind, o.name)
}

// deleteSchedule requires DROP JOB. The template of the schedule stays.
func (k *check) deleteSchedule(name string) error {
	if err := k.definition(kindSchedule, name, rota.DropJob); err != nil {
		return err
	}
	k.made[objectKey{kindSchedule, name}] = &object{kind: kindSchedule, name: name}
	return nil
}

// drop requires DROP JOB. Members of an All that follow may create the definition again, and its template, if the drop
// archives that.
func (k *check) drop(c *rota.Drop) error {
	s, err := k.object(kindSchedule, c.Name)
	if err != nil {
		return err
	}
	if err := k.onObject(s, rota.DropJob); err != nil || !k.inAll || c.Recreate {
		return err // a drop that is the first part of a recreation leaves both as they are
	}
	k.made[objectKey{kindSchedule, c.Name}] = &object{kind: kindSchedule, name: c.Name}
	t, err := k.object(kindTemplate, c.Name)
	if err != nil {
		return err
	}
	if !t.exists || t.archived || s.template != c.Name || t.owner != s.owner {
		return nil
	}
	users, err := k.schedulesOf(c.Name)
	if err == nil && len(users) == 0 {
		k.made[objectKey{kindTemplate, c.Name}] = &object{kind: kindTemplate, name: c.Name, exists: true, typ: t.typ}
	}
	return err
}

// schedulesOf returns the schedules of a template, as earlier members of an All leave them.
func (k *check) schedulesOf(template string) (all []*object, err error) {
	q := rota.ScheduleQuery{Template: template, Limit: rota.PageMax}
	for {
		page, err := k.store.Schedules(k.ctx, q)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			if k.made[objectKey{kindSchedule, s.Name}] == nil {
				all = append(all, scheduleObject(s))
			}
		}
		if len(page) < q.Limit {
			break
		}
		q.After = page[len(page)-1].Name
	}
	for _, s := range k.made {
		if s.kind == kindSchedule && s.exists && s.template == template {
			all = append(all, s)
		}
	}
	return all, nil
}

// grant requires ADMIN, or that the user owns the definition that the privileges are for. An administrator with a token for
// one job grants on that job like its owner.
func (k *check) grant(c *rota.GrantPrivileges) error {
	if k.unrestricted() {
		return nil
	}
	if c.Job == "" || c.Role != "" || slices.ContainsFunc(c.Privileges, func(p rota.Privilege) bool { return !p.OnJob() || p == rota.ExecuteExternalJob }) {
		return k.missingOnAll(rota.Admin)
	}
	sees := false
	for _, kind := range []string{kindSchedule, kindTemplate} {
		o, err := k.object(kind, c.Job)
		if err != nil {
			return err
		}
		if !o.vacant() && !k.owns(o) && !(k.admin && k.reaches(o.name)) {
			return k.orInvisible(k.seesObject(o), o)
		}
		sees = sees || !o.vacant()
	}
	if !sees || !k.reaches(c.Job) {
		return notDefined(c.Job)
	}
	return k.roomForGrants(c)
}

// orInvisible refuses a grant of a user that does not own the definition.
func (k *check) orInvisible(visible bool, o *object) error {
	if visible {
		refusal := k.missingOnAll(rota.Admin)
		refusal.Reason = "user " + k.user + " has no ADMIN and does not own " + o.name
		refusal.Hint = "ask its owner " + o.owner + " or an administrator"
		return refusal
	}
	return notDefined(o.name)
}
