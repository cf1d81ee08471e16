package console

import (
	"cmp"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/ddl"
)

// create plans CREATE JOB, CREATE OR ALTER JOB and RECREATE JOB.
func (p *planner) create(q *ddl.CreateJob) (*plan, error) {
	putTemplate, putSchedule, drop := p.mint(), p.mint(), p.mint()
	if was, err := p.applied(putSchedule, q.Name); was || err != nil {
		return said(done(q.Tag())), err
	}
	var s *rota.Schedule
	var err error
	if !p.blind {
		s, err = p.schedule(q.Name)
	}
	switch {
	case err != nil:
		return nil, err
	case s != nil && s.Version == putSchedule.ID:
		return said(done(q.Tag())), nil // the same statement, sent again
	case s != nil && p.again && q.Mode == ddl.Create && !q.IfNotExists:
		s = nil // the store knows whether it was this statement that made it
	case s != nil && q.IfNotExists:
		return said(done(q.Tag()).notice("job %s already exists, skipping", q.Name)), nil
	case s != nil && q.Mode == ddl.Create:
		return nil, refuse(StateDuplicate, "change it with ALTER JOB or CREATE OR ALTER JOB, or choose another name", "job %s already exists", q.Name)
	}
	d := &definition{name: q.Name}
	d.spec.Template = q.Name
	if s != nil && q.Mode == ddl.CreateOrAlter {
		d.schedule, d.spec.Template = s, s.Spec.Template
		d.spec.Scopes = s.Spec.Scopes // no clause says anything about them
	}
	if err := p.takeOver(d, q, s); err != nil {
		return nil, err
	}
	if err := d.apply(p, &q.Job); err != nil {
		return nil, err
	}
	var commands []rota.Command
	if s != nil && q.Mode == ddl.Recreate {
		commands = append(commands, &rota.Drop{Meta: drop, Name: q.Name, Recreate: true})
		d.recreate = true
	}
	more, err := d.commands(p, putTemplate, putSchedule)
	if err != nil {
		return nil, err
	}
	return said(done(q.Tag()), append(commands, more...)...), nil
}

// takeOver finds the template that the job is to have. One that others made is
// taken over only by who says so.
func (p *planner) takeOver(d *definition, q *ddl.CreateJob, s *rota.Schedule) error {
	if p.blind {
		return nil
	}
	t, err := p.template(d.spec.Template)
	if err != nil || t == nil {
		return err
	}
	if s == nil && !p.again && q.Mode == ddl.Create && t.State == rota.TemplateActive {
		if now, err := p.schedule(q.Name); now != nil || err != nil { // both were made since
			return cmp.Or(err, errMoved)
		}
		return refuse(StateDuplicate, "use CREATE OR ALTER JOB to take it over, or choose another name", "template %s already exists, and no job of this name uses it", t.Name)
	}
	d.template = t
	return nil
}

// alter plans ALTER JOB.
func (p *planner) alter(q *ddl.AlterJob) (*plan, error) {
	putTemplate, putSchedule := p.mint(), p.mint()
	if was, err := p.applied(putSchedule, q.Name); was || err != nil {
		return said(done(q.Tag())), err
	}
	s, err := p.schedule(q.Name)
	switch {
	case err != nil:
		return nil, err
	case s == nil && q.IfExists:
		return said(done(q.Tag()).notice("there is no job %s, skipping", q.Name)), nil
	case s == nil:
		return nil, noJob(q.Name)
	case s.Version == putSchedule.ID:
		return said(done(q.Tag())), nil // the same statement, sent again
	case len(q.Secrets) > 0:
		return nil, refuse(StateNotSupported, "", "ALTER JOB … SECRET is not supported yet")
	}
	t, err := p.template(s.Spec.Template)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, refuse(StateNotNow, "create it again with CREATE OR ALTER JOB", "template %s of job %s no longer exists", s.Spec.Template, s.Name)
	}
	d := &definition{name: s.Name, schedule: s, template: t, spec: s.Spec, what: t.Spec, kept: true}
	if err := d.apply(p, &q.Set); err != nil {
		return nil, err
	}
	commands, err := d.commands(p, putTemplate, putSchedule)
	if err != nil {
		return nil, err
	}
	return said(done(q.Tag()), commands...), nil
}
