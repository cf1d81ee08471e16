package httpapi

import (
	"strings"

	"github.com/rotajobs/rota"
)

func (p *plan) planTemplates() error {
	for _, name := range namesOf(p.body.Templates) {
		d, path := p.body.Templates[name], joinPath("templates", name)
		was, err := found(p.c.Store.Template(p.c.ctx, name))
		if err == nil {
			err = p.planTemplate(path, name, d, was)
		}
		if err != nil {
			if err := p.refuse(path, err); err != nil {
				return err
			}
		}
	}
	return nil
}

var templateStates = []string{string(rota.TemplateActive), string(rota.TemplateArchived)}

func (p *plan) planTemplate(path, name string, d TemplateDefinition, was *rota.Template) error {
	is := &rota.Template{Name: name, State: rota.TemplateActive}
	var stored []rota.Webhook
	if was != nil {
		*is = *was
		stored = was.Spec.Webhooks
	}
	hooks, err := p.withSecrets(d.Webhooks, stored)
	if err != nil {
		return rename(err, "", "webhooks")
	}
	is.Spec = rota.TemplateSpec{
		Type: d.Type, Description: d.Description, Params: d.DefaultParams.raw(), Priority: d.Priority, ConcurrencyKey: d.ConcurrencyKey,
		Policy: d.patch(), Webhooks: hooks,
	}
	if d.UniqueFor != nil {
		is.Spec.UniqueFor = *spanOf(d.UniqueFor)
	}
	command := &rota.PutTemplate{Meta: p.meta("template " + name), Name: name, Spec: is.Spec}
	if err := command.Validate(); err != nil {
		return err
	}
	is.Spec = is.Spec.Canonical()
	if d.State != "" {
		state := oneOf(d.State, templateStates)
		if state == "" {
			return rota.Invalidf("state", "is none of %s", strings.Join(templateStates, " and "))
		}
		is.State = rota.TemplateState(state)
	}
	if err := p.mayRun(is.Spec.Type); err != nil {
		return err
	}
	p.templates[name] = is
	p.templateMembers(path, command, was, is)
	return nil
}

// mayRun refuses a type that nobody declared, once.
func (p *plan) mayRun(typ string) error {
	if rota.InternalType(typ) {
		return rota.Invalidf("type", "is one of Rota's own types, which nobody else may use")
	}
	if p.c.known || p.refusedType(typ) {
		return nil
	}
	_, err := p.typ(typ)
	return err
}

// refusedType says whether a type is wrong itself: what follows from that need
// not be told.
func (p *plan) refusedType(typ string) bool {
	_, named := p.body.Types[typ]
	return named && p.types[typ] == nil
}

// templateMembers puts the commands of a template in their turns: it is archived
// when its schedules have been declared, which an archived one would refuse.
func (p *plan) templateMembers(path string, command *rota.PutTemplate, was, is *rota.Template) {
	archiving, unarchiving := "archiving of template "+is.Name, "unarchiving of template "+is.Name
	if was == nil {
		command.Mode = rota.PutCreate
		p.item("template", is.Name, nil, nil, "")
		p.add(path, command)
	} else {
		wrote := p.wrote(was.Version, was.CreatedAt.Equal(was.UpdatedAt), "template "+is.Name, archiving, unarchiving)
		before, after := newTemplateDefinition(was, true), newTemplateDefinition(is, true)
		if !p.item("template", is.Name, before, after, wrote) {
			return
		}
		after.State = before.State
		if len(fieldsOf(before, after)) > 0 {
			command.Mode, command.Version = rota.PutReplace, &was.Version
			p.add(path, command)
		}
	}
	archived := was != nil && was.State == rota.TemplateArchived
	switch is.State {
	case rota.TemplateArchived:
		if !archived {
			p.close(path, is.Name)
		}
	case rota.TemplateActive:
		if archived {
			p.add(path, &rota.Unarchive{Meta: p.meta(unarchiving), Name: is.Name})
		}
	}
}

func (p *plan) close(path, name string) {
	p.closing = append(p.closing, member{&rota.Archive{Meta: p.meta("archiving of template " + name), Name: name}, path})
}

// open lets the schedules of a template be declared that is archived and stays
// so.
func (p *plan) open(name string) {
	t := p.templates[name]
	if t == nil || t.State != rota.TemplateArchived || p.opened[name] {
		return
	}
	p.opened[name] = true
	path := joinPath("templates", name)
	for _, m := range p.closing {
		if m.path == path {
			return // it is open yet
		}
	}
	p.add(path, &rota.Unarchive{Meta: p.meta("unarchiving of template " + name), Name: name})
	p.close(path, name)
}
