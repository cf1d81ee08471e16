package definitions

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/payload"
)

func (p *plan) planTypes() error {
	return planEach(p, "types", p.body.Types, p.Store.Type, p.planType)
}

func (p *plan) planType(path, name string, d api.TypeDefinition, current *rota.Type) error {
	var notes []string
	spec := rota.TypeSpec{Description: d.Description, Schema: d.Schema.Raw(), Policy: d.Patch()}
	command := &rota.PutType{Meta: p.meta("type " + name), Name: name, Spec: spec}
	switch handled := p.handles(name); {
	case rota.InternalType(name):
		return &rota.Error{Code: rota.Invalid, Reason: "is reserved: names that start with rota. belong to Rota", Hint: "omit it"}
	case p.builtin(name) && len(changedFields(api.TypeDefinition{Paused: d.Paused}, d)) > 0:
		return &rota.Error{Code: rota.Invalid, Reason: "is built in; a document can only set paused", Hint: "omit the other fields, or use another name"}
	case p.builtin(name) && current == nil:
		return &rota.Error{Code: rota.Invalid, Reason: "is not declared yet", Hint: "retry when the server has started"}
	case current != nil && (handled || p.builtin(name)):
		if !p.builtin(name) && len(changedFields(specDefinition(current.Spec), specDefinition(spec))) > 0 {
			notes = append(notes, "this server handles the type and declares it itself; the document does not change it")
		}
		command.Spec = current.Spec
	}
	if err := command.Validate(); err != nil {
		return err
	}
	if len(command.Spec.Schema) > 0 {
		compiled, err := payload.Compile(command.Spec.Schema)
		if err != nil {
			return err
		}
		p.schemas[name] = compiled
	}
	target := &rota.Type{Name: name, Spec: command.Spec.Canonical()}
	if current != nil {
		*target = *current
		target.Spec = command.Spec.Canonical()
	}
	if d.Paused != nil {
		target.Paused = *d.Paused
	}
	p.types.put(name, target)
	p.addTypeCommands(path, command, current, target, notes)
	return nil
}

func specDefinition(spec rota.TypeSpec) api.TypeDefinition {
	return api.NewTypeDefinition(&rota.Type{Spec: spec})
}

func (p *plan) addTypeCommands(path string, command *rota.PutType, current, target *rota.Type, notes []string) {
	pausing := "pausing of type " + target.Name
	if current == nil {
		command.Mode = rota.PutCreate
		p.addItem("type", target.Name, nil, nil, "", notes...)
		p.addCommand(path, command)
	} else {
		wrote := p.changedByRequest(current.Version, current.CreatedAt.Equal(current.UpdatedAt), "type "+target.Name, pausing)
		if !p.addItem("type", target.Name, api.NewTypeDefinition(current), api.NewTypeDefinition(target), wrote, notes...) {
			return
		}
		if len(changedFields(specDefinition(current.Spec), specDefinition(target.Spec))) > 0 {
			command.Mode, command.Version = rota.PutReplace, &current.Version
			p.addCommand(path, command)
		}
	}
	if target.Paused != (current != nil && current.Paused) {
		p.addCommand(path, &rota.SwitchType{Meta: p.meta(pausing), Name: target.Name, Paused: target.Paused})
	}
}

func (p *plan) planTemplates() error {
	return planEach(p, "templates", p.body.Templates, p.Store.Template, p.planTemplate)
}

var templateStates = []string{string(rota.TemplateActive), string(rota.TemplateArchived)}

func (p *plan) planTemplate(path, name string, d api.TemplateDefinition, current *rota.Template) error {
	if current != nil && current.Owner == "" {
		current = nil // it was dropped, and the next one of its name replaces it
	}
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
	target.Spec = d.Spec()
	target.Spec.Webhooks = hooks
	command := &rota.PutTemplate{Meta: p.meta("template " + name), Name: name, Spec: target.Spec}
	if err := command.Validate(); err != nil {
		return err
	}
	if hooks, err = p.matchWebhooks(name, hooks, stored); err != nil {
		return err
	}
	command.Spec.Webhooks, target.Spec.Webhooks = hooks, hooks
	target.Spec = target.Spec.Canonical()
	if d.State != "" {
		state := api.OneOf(d.State, templateStates)
		if state == "" {
			return rota.Invalidf("state", "must be %s", strings.Join(templateStates, " or "))
		}
		target.State = rota.TemplateState(state)
	}
	if target.Owner, err = p.ownerOf(d.Owner, target.Owner); err != nil {
		return err
	}
	if err := p.checkType(target.Spec.Type); err != nil {
		return err
	}
	if err := p.checkDefaults(&target.Spec); err != nil {
		return problem.Rename(err, "params", "default_params")
	}
	secrets, before, after, err := p.planSecrets(name, target.Spec.Type, d.Secrets, current)
	if err != nil {
		return err
	}
	p.templates.put(name, target)
	shown := shownTemplate{before: before, after: after, secrets: secrets}
	return p.addTemplateCommands(path, d.Owner, command, current, target, shown)
}

// shownTemplate holds the secrets of a template as they are and will be, and the commands that set them.
type shownTemplate struct {
	before, after map[string]string
	secrets       []rota.Command
}

// of returns a template with its secrets.
func (s shownTemplate) of(t *rota.Template, secrets map[string]string) api.TemplateDefinition {
	d := api.NewTemplateDefinition(t, true)
	d.Secrets = secrets
	return d
}

// checkDefaults checks the default params of a template against the schema of its type, as it will be after the write.
func (p *plan) checkDefaults(spec *rota.TemplateSpec) error {
	if p.request.Replay || p.typeRefused(spec.Type) {
		return nil
	}
	t, err := p.Type(spec.Type)
	if err != nil {
		return err
	}
	if compiled := p.schemas[t.Name]; compiled != nil {
		return compiled.CheckPartial(spec.Params)
	}
	return p.CheckDefaults(t, spec.Params)
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
	return named && p.types.get(typ) == nil
}

// addTemplateCommands adds the commands of a template. A template is archived after its schedules were
// declared, because an archived template refuses them.
func (p *plan) addTemplateCommands(path, owner string, command *rota.PutTemplate, current, target *rota.Template, shown shownTemplate) error {
	archiving, unarchiving := "archiving of template "+target.Name, "unarchiving of template "+target.Name
	if current == nil {
		p.addItem("template", target.Name, nil, nil, "")
		command.Mode = rota.PutCreate
		p.addCommand(path, command)
		importer, err := p.importer()
		if err != nil {
			return err
		}
		if target.Owner != importer {
			p.commands = append(p.commands, p.ownerCommand(path, rota.ExpectTemplate, target.Name, target.Owner, nil))
		}
	} else {
		wrote := p.changedByRequest(current.Version, current.Since.Equal(current.UpdatedAt), "template "+target.Name, archiving, unarchiving,
			ownerAct(rota.ExpectTemplate, target.Name))
		if p.addItem("template", target.Name, shown.of(current, shown.before), shown.of(target, shown.after), wrote) {
			p.changeTemplate(path, command, current, target)
		} else {
			target = current // it keeps its state
		}
	}
	for _, c := range shown.secrets {
		p.addCommand(path, c)
	}
	p.noteOwner(owner, target.Owner)
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
	return nil
}

// changeTemplate adds the commands that change the fields of a template and its owner.
func (p *plan) changeTemplate(path string, command *rota.PutTemplate, current, target *rota.Template) {
	before, after := api.NewTemplateDefinition(current, true), api.NewTemplateDefinition(target, true)
	before.State, before.Owner = after.State, after.Owner
	version := &current.Version
	if len(changedFields(before, after)) > 0 {
		command.Mode, command.Version = rota.PutReplace, version
		p.addCommand(path, command)
		version = nil
	}
	if target.Owner != current.Owner {
		p.commands = append(p.commands, p.ownerCommand(path, rota.ExpectTemplate, target.Name, target.Owner, version))
	}
}

func (p *plan) archiveLast(path, name string) {
	p.archiving = append(p.archiving, planCommand{Command: &rota.Archive{Meta: p.meta("archiving of template " + name), Name: name}, path: path})
}

// unarchiveFirst unarchives a template that is and stays archived while its schedules are declared.
func (p *plan) unarchiveFirst(name string) {
	t := p.templates.get(name)
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
