package session

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// create plans CREATE JOB, CREATE OR ALTER JOB and RECREATE JOB.
func (p *planner) create(q *ddl.CreateJob) (*plan, error) {
	putTemplate, putSchedule, drop := p.newMeta(), p.newMeta(), p.newMeta()
	if was, err := p.applied(putSchedule, q.Name); was || err != nil {
		return fixedPlan(tagAnswer(q.Tag())), err
	}
	var s *rota.Schedule
	var err error
	if !p.assumeNew {
		s, err = p.schedule(q.Name)
	}
	switch {
	case err != nil:
		return nil, err
	case s != nil && s.Version == putSchedule.ID:
		return fixedPlan(tagAnswer(q.Tag())), nil // the same statement was already applied
	case s != nil && p.resent && q.Mode == ddl.Create && !q.IfNotExists:
		s = nil // the store knows whether this statement created it
	case s != nil && q.IfNotExists:
		return fixedPlan(tagAnswer(q.Tag()).notice("job %s already exists, skipping", q.Name)), nil
	case s != nil && q.Mode == ddl.Create:
		return nil, newError(StateDuplicate, "change it with ALTER JOB or CREATE OR ALTER JOB, or choose another name", "job %s already exists", q.Name).at(ddl.PlaceName)
	}
	d := &definition{name: q.Name}
	d.spec.Template = q.Name
	if s != nil && q.Mode == ddl.CreateOrAlter {
		d.schedule, d.spec.Template = s, s.Spec.Template
		d.spec.Scopes, d.spec.Policy = s.Spec.Scopes, withoutClauses(s.Spec.Policy) // no clause sets these
	}
	if err := p.findTemplate(d, q, s); err != nil {
		return nil, err
	}
	if err := d.replaceRunAs(q); err != nil {
		return nil, err
	}
	if err := d.apply(p, &q.Job); err != nil {
		return nil, err
	}
	d.noticeReplaced()
	var commands []rota.Command
	if s != nil && q.Mode == ddl.Recreate {
		commands = append(commands, &rota.Drop{Meta: drop, Name: q.Name, Recreate: true})
		d.recreate = true
	}
	more, err := d.commands(p, putTemplate, putSchedule)
	if err != nil {
		return nil, err
	}
	return fixedPlan(d.answer(q.Tag()), append(commands, more...)...), nil
}

// alter plans ALTER JOB.
func (p *planner) alter(q *ddl.AlterJob) (*plan, error) {
	putTemplate, putSchedule := p.newMeta(), p.newMeta()
	if was, err := p.applied(putSchedule, q.Name); was || err != nil {
		return fixedPlan(tagAnswer(q.Tag())), err
	}
	s, err := p.schedule(q.Name)
	switch {
	case err != nil:
		return nil, err
	case s == nil && q.IfExists:
		return fixedPlan(tagAnswer(q.Tag()).notice("there is no job %s, skipping", q.Name)), nil
	case s == nil:
		return nil, noJob(q.Name)
	case s.Version == putSchedule.ID:
		return fixedPlan(tagAnswer(q.Tag())), nil // the same statement was already applied
	case len(q.Secrets) > 0:
		return nil, newError(StateNotSupported, "", "ALTER JOB … SECRET is not supported yet")
	}
	t, err := p.template(s.Spec.Template)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, newError(StateWrongState, "create it again with CREATE OR ALTER JOB", "template %s of job %s no longer exists", s.Spec.Template, s.Name)
	}
	d := &definition{name: s.Name, schedule: s, template: t, spec: s.Spec, templateSpec: t.Spec, keepOthers: true}
	if err := d.apply(p, &q.Set); err != nil {
		return nil, err
	}
	commands, err := d.commands(p, putTemplate, putSchedule)
	if err != nil {
		return nil, err
	}
	return fixedPlan(d.answer(q.Tag()), commands...), nil
}
