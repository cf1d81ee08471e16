package definitions

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
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
	p.types[name] = target
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
