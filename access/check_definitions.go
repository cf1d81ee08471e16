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
	if t.vacant() || c.Recreate {
		k.make(object{kind: kindTemplate, name: c.Name, typ: c.Spec.Type, params: c.Spec.Params, webhooks: c.Spec.Webhooks})
	}
	return nil
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
		return &rota.Error{Code: rota.Denied, Reason: "the name " + o.name + " is taken", Hint: "choose another name"}
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
		k.make(object{kind: kindTemplate, name: c.Name, typ: t.typ, params: t.params, webhooks: t.webhooks})
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
	if c.Recreate && s.exists {
		if err := k.create(c.Name); err != nil {
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
	if s.vacant() || c.Recreate {
		k.make(object{kind: kindSchedule, name: c.Name, template: c.Spec.Template, params: c.Spec.Params})
	}
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

// drop requires DROP JOB. Members of an All that follow create the definition again.
func (k *check) drop(name string) error {
	s, err := k.object(kindSchedule, name)
	if err != nil {
		return err
	}
	if err := k.onObject(s, rota.DropJob); err != nil {
		return err
	}
	k.made[objectKey{kindSchedule, name}] = &object{kind: kindSchedule, name: name}
	t, err := k.object(kindTemplate, name)
	if err != nil {
		return err
	}
	if t.exists && s.template == name && t.owner == s.owner {
		k.made[objectKey{kindTemplate, name}] = &object{kind: kindTemplate, name: name, exists: true, typ: t.typ}
	}
	return nil
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
		if o.exists && !k.owns(o) && !(k.admin && k.reaches(o.name)) {
			return k.orInvisible(k.seesObject(o), o)
		}
		sees = sees || o.exists
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
