package session

import (
	"encoding/json"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// findTemplate reads the template of the job. CREATE JOB takes over an active template that no job uses, as POST /schedules
// with a type does, and refuses one that a job uses. It keeps settings that no clause can express, as does CREATE OR ALTER JOB.
func (p *planner) findTemplate(d *definition, q *ddl.CreateJob, s *rota.Schedule) error {
	if p.assumeNew {
		return nil
	}
	t, err := p.template(d.spec.Template)
	if err != nil || t == nil {
		return err
	}
	if s == nil && !p.resent && q.Mode == ddl.Create && t.State == rota.TemplateActive {
		if err := p.checkUnused(t); err != nil {
			return err
		}
		d.replaced = t
	}
	d.template = t
	if q.Mode != ddl.Recreate && t.State == rota.TemplateActive {
		d.templateSpec = rota.TemplateSpec{
			Policy: withoutClauses(t.Spec.Policy), UniqueFor: t.Spec.UniqueFor, ConcurrencyKey: t.Spec.ConcurrencyKey, Webhooks: t.Spec.Webhooks,
		}
	}
	return nil
}

// withoutClauses returns the part of a policy that no clause sets.
func withoutClauses(p rota.PolicyPatch) rota.PolicyPatch {
	return rota.PolicyPatch{BackoffMax: p.BackoffMax, Jitter: p.Jitter}
}

// checkUnused refuses a template that a job uses. It has the name of the job that the statement creates.
func (p *planner) checkUnused(t *rota.Template) error {
	stored, err := p.store.Schedules(p.ctx, rota.ScheduleQuery{Template: t.Name, Limit: rota.PageMax})
	if err != nil {
		return err
	}
	for _, s := range p.changes.schedules {
		stored = append(stored, s)
	}
	for _, s := range stored {
		if s != nil {
			s, err = p.schedule(s.Name) // as the transaction leaves it
		}
		switch {
		case err != nil:
			return err
		case s == nil || s.Spec.Template != t.Name:
			continue
		case s.Name == t.Name:
			return errChanged // another session created both meanwhile
		}
		return newError(StateDuplicate, "choose another name", "template %s already exists, and job %s uses it", t.Name, s.Name).at(ddl.PlaceName)
	}
	return nil
}

// noticeReplaced adds a notice if the statement replaces a template that existed before the job.
func (d *definition) noticeReplaced() {
	t := d.replaced
	if t == nil || t.Spec.Equal(d.templateSpec) {
		return
	}
	rest := d.templateSpec
	rest.Type, rest.Params = "", nil
	if rest.Equal(rota.TemplateSpec{}) {
		d.notice("template %s, which no job used, is replaced by that of this job", t.Name)
		return
	}
	d.notice("template %s, which no job used, is replaced by that of this job, except its settings that no clause can express", t.Name)
}

// replaceRunAs refuses a CREATE OR ALTER JOB that would remove the role of a job without words, since a role is a right. A
// statement that drops the job or its leftover template first gives a notice.
func (d *definition) replaceRunAs(q *ddl.CreateJob) error {
	t := d.template
	if t == nil || t.State == rota.TemplateArchived || q.Job.RunAs != nil || !runsOnTarget(t.Spec.Type) {
		return nil
	}
	var was actionParams
	_ = json.Unmarshal(t.Spec.Params, &was) // of a type that has this field
	switch {
	case was.RunAs == "":
	case q.Mode == ddl.CreateOrAlter:
		return newError(StateNotSupported, "name the role with RUN AS to keep it, or write RUN AS NONE to remove it",
			"the job runs as %s, and the statement does not name a role", was.RunAs).at(ddl.PlaceName)
	default:
		d.notice("the job no longer runs as %s", was.RunAs)
	}
	return nil
}
