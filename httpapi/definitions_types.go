package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

func (p *plan) planTypes() error {
	for _, name := range namesOf(p.body.Types) {
		d, path := p.body.Types[name], joinPath("types", name)
		was, err := found(p.c.Store.Type(p.c.ctx, name))
		if err == nil {
			err = p.planType(path, name, d, was)
		}
		if err != nil {
			if err := p.refuse(path, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plan) planType(path, name string, d TypeDefinition, was *rota.Type) error {
	var notes []string
	spec := rota.TypeSpec{Description: d.Description, Schema: d.Schema.raw(), Policy: d.patch()}
	command := &rota.PutType{Meta: p.meta("type " + name), Name: name, Spec: spec}
	switch handled := p.c.handles(name); {
	case rota.InternalType(name):
		return &rota.Error{Code: rota.Invalid, Reason: "is one of Rota's own types", Hint: "leave it out"}
	case p.c.declaresItself(name) && len(fieldsOf(TypeDefinition{Paused: d.Paused}, d)) > 0:
		return &rota.Error{Code: rota.Invalid, Reason: "is built in; only paused can be said of it", Hint: "leave the rest out, or use another name"}
	case p.c.declaresItself(name) && was == nil:
		return &rota.Error{Code: rota.Invalid, Reason: "is not there yet", Hint: "try again when the server has started"}
	case was != nil && (handled || p.c.declaresItself(name)):
		if !p.c.declaresItself(name) && len(fieldsOf(shownSpec(was.Spec), shownSpec(spec))) > 0 {
			notes = append(notes, "this server runs it, and declares it itself: what the document says of it is left alone")
		}
		command.Spec = was.Spec
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
	is := &rota.Type{Name: name, Spec: command.Spec.Canonical()}
	if was != nil {
		*is = *was
		is.Spec = command.Spec.Canonical()
	}
	if d.Paused != nil {
		is.Paused = *d.Paused
	}
	p.types[name] = is
	p.typeMembers(path, command, was, is, notes)
	return nil
}

func shownSpec(spec rota.TypeSpec) TypeDefinition { return newTypeDefinition(&rota.Type{Spec: spec}) }

func (p *plan) typeMembers(path string, command *rota.PutType, was, is *rota.Type, notes []string) {
	pausing := "pausing of type " + is.Name
	if was == nil {
		command.Mode = rota.PutCreate
		p.item("type", is.Name, nil, nil, "", notes...)
		p.add(path, command)
	} else {
		wrote := p.wrote(was.Version, was.CreatedAt.Equal(was.UpdatedAt), "type "+is.Name, pausing)
		if !p.item("type", is.Name, newTypeDefinition(was), newTypeDefinition(is), wrote, notes...) {
			return
		}
		if len(fieldsOf(shownSpec(was.Spec), shownSpec(is.Spec))) > 0 {
			command.Mode, command.Version = rota.PutReplace, &was.Version
			p.add(path, command)
		}
	}
	if is.Paused != (was != nil && was.Paused) {
		p.add(path, &rota.SwitchType{Meta: p.meta(pausing), Name: is.Name, Paused: is.Paused})
	}
}
