package session

import (
	"context"

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
	secrets, err := p.secrets(t.Name, q.Secrets)
	if err != nil {
		return nil, err
	}
	return fixedPlan(d.answer(q.Tag()), append(commands, secrets...)...), nil
}

// authorizer is a store that knows who uses it, such as access.Guard.
type authorizer interface {
	Authorize(ctx context.Context, c rota.Command) error
}

// secrets returns the commands that set and delete secrets of the template of a job.
func (p *planner) secrets(template string, changes []ddl.SecretChange) (commands []rota.Command, err error) {
	for _, c := range changes {
		meta := p.newMeta()
		if err := rota.CheckSecretKey("the key of the secret", c.Key); err != nil {
			return nil, err
		}
		if c.Drop {
			commands = append(commands, &rota.DeleteSecret{Meta: meta, Template: template, Key: c.Key})
			continue
		}
		if p.config.Seal == nil {
			return nil, newError(StateNotSupported, "set it at a server", "this console has no key that seals secrets")
		}
		put := &rota.PutSecret{Meta: meta, Template: template, Key: c.Key}
		if guard, is := p.store.(authorizer); is { // before a keyset is created
			if err := guard.Authorize(p.ctx, put); err != nil {
				return nil, err
			}
		}
		if put.Sealed, err = p.config.Seal(p.ctx, template, c.Key, []byte(c.Value)); err != nil {
			return nil, err
		}
		commands = append(commands, put)
	}
	return commands, nil
}
