package definitions

import (
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (p *plan) planTemplates() error {
	return planEach(p, "templates", p.body.Templates, p.Store.Template, p.planTemplate)
}

var templateStates = []string{string(rota.TemplateActive), string(rota.TemplateArchived)}

func (p *plan) planTemplate(path, name string, d api.TemplateDefinition, current *rota.Template) error {
	target := &rota.Template{Name: name, State: rota.TemplateActive}
	var stored []rota.Webhook
	if current != nil {
		*target = *current
		stored = current.Spec.Webhooks
	}
	hooks, err := p.fillSecrets(d.Webhooks, stored)
	if err != nil {
		return problem.Rename(err, "", "webhooks")
	}
	target.Spec = rota.TemplateSpec{
		Type: d.Type, Description: d.Description, Params: d.DefaultParams.Raw(), Priority: d.Priority, ConcurrencyKey: d.ConcurrencyKey,
		Policy: d.Patch(), Webhooks: hooks,
	}
	if d.UniqueFor != nil {
		target.Spec.UniqueFor = time.Duration(*d.UniqueFor)
	}
	command := &rota.PutTemplate{Meta: p.meta("template " + name), Name: name, Spec: target.Spec}
	if err := command.Validate(); err != nil {
		return err
	}
	target.Spec = target.Spec.Canonical()
	if d.State != "" {
		state := api.OneOf(d.State, templateStates)
		if state == "" {
			return rota.Invalidf("state", "must be %s", strings.Join(templateStates, " or "))
		}
		target.State = rota.TemplateState(state)
	}
	if err := p.checkType(target.Spec.Type); err != nil {
		return err
	}
	p.templates[name] = target
	p.addTemplateCommands(path, command, current, target)
	return nil
}

// checkType refuses an undeclared type.
func (p *plan) checkType(typ string) error {
	if rota.InternalType(typ) {
		return rota.Invalidf("type", "is reserved: names that start with rota. belong to Rota")
	}
	if p.request.Replay || p.typeRefused(typ) {
		return nil
	}
	_, err := p.Type(typ)
	return err
}

// typeRefused reports whether a type of the document has an error itself. Errors that follow from it
// are not reported.
func (p *plan) typeRefused(typ string) bool {
	_, named := p.body.Types[typ]
	return named && p.types[typ] == nil
}

// addTemplateCommands adds the commands of a template. A template is archived after its schedules were
// declared, because an archived template refuses them.
func (p *plan) addTemplateCommands(path string, command *rota.PutTemplate, current, target *rota.Template) {
	archiving, unarchiving := "archiving of template "+target.Name, "unarchiving of template "+target.Name
	if current == nil {
		command.Mode = rota.PutCreate
		p.addItem("template", target.Name, nil, nil, "")
		p.addCommand(path, command)
	} else {
		wrote := p.changedByRequest(current.Version, current.CreatedAt.Equal(current.UpdatedAt), "template "+target.Name, archiving, unarchiving)
		before, after := api.NewTemplateDefinition(current, true), api.NewTemplateDefinition(target, true)
		if !p.addItem("template", target.Name, before, after, wrote) {
			return
		}
		after.State = before.State
		if len(changedFields(before, after)) > 0 {
			command.Mode, command.Version = rota.PutReplace, &current.Version
			p.addCommand(path, command)
		}
	}
	archived := current != nil && current.State == rota.TemplateArchived
	switch target.State {
	case rota.TemplateArchived:
		if !archived {
			p.archiveLast(path, target.Name)
		}
	case rota.TemplateActive:
		if archived {
			p.addCommand(path, &rota.Unarchive{Meta: p.meta(unarchiving), Name: target.Name})
		}
	}
}

func (p *plan) archiveLast(path, name string) {
	p.archiving = append(p.archiving, planCommand{&rota.Archive{Meta: p.meta("archiving of template " + name), Name: name}, path})
}

// unarchiveFirst unarchives a template that is and stays archived while its schedules are declared.
func (p *plan) unarchiveFirst(name string) {
	t := p.templates[name]
	if t == nil || t.State != rota.TemplateArchived || p.unarchived[name] {
		return
	}
	p.unarchived[name] = true
	path := api.FieldPath("templates", name)
	for _, m := range p.archiving {
		if m.path == path {
			return // it is archived only after the schedules
		}
	}
	p.addCommand(path, &rota.Unarchive{Meta: p.meta("unarchiving of template " + name), Name: name})
	p.archiveLast(path, name)
}
