package httpapi

import (
	"encoding/json"

	"github.com/rotajobs/rota"
)

// findType reads a type that a request names. An undeclared type is an error in the request.
func (c *call) findType(name string) (*rota.Type, error) {
	t, err := c.Store.Type(c.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, &rota.Error{
			Code: rota.Invalid, Field: "type", Reason: "type " + name + " is not declared",
			Hint: "check the name, or declare it with PUT /types/NAME",
		}
	}
	return t, err
}

// findTemplate reads a template that a request names, and refuses an archived one.
func (c *call) findTemplate(name string) (*rota.Template, error) {
	t, err := c.Store.Template(c.ctx, name)
	switch {
	case rota.CodeOf(err) == rota.NotFound:
		return nil, &rota.Error{
			Code: rota.Invalid, Field: "template", Reason: "there is no template " + name, Hint: "check the name",
		}
	case err != nil:
		return nil, err
	case t.State == rota.TemplateArchived:
		return nil, &rota.Error{
			Code: rota.Conflict, Field: "template", Reason: "template " + name + " is archived and accepts no new jobs",
			Hint: "unarchive it, or use another template",
		}
	}
	return t, nil
}

// checkParams checks the merged params of a job against the schema of its type.
func (c *call) checkParams(t *rota.Type, layers ...json.RawMessage) error {
	return c.Schemas.Check(t, rota.MergeParams(layers...))
}

// definitionCache holds the types and templates of one request, each read once.
type definitionCache struct {
	c         *call
	types     map[string]*rota.Type
	templates map[string]*rota.Template
}

func (c *call) newDefinitionCache() *definitionCache {
	return &definitionCache{c: c, types: map[string]*rota.Type{}, templates: map[string]*rota.Template{}}
}

func (d *definitionCache) findType(name string) (t *rota.Type, err error) {
	if t = d.types[name]; t == nil {
		t, err = d.c.findType(name)
		d.types[name] = t
	}
	return t, err
}

func (d *definitionCache) findTemplate(name string) (t *rota.Template, err error) {
	if t = d.templates[name]; t == nil {
		t, err = d.c.findTemplate(name)
		d.templates[name] = t
	}
	return t, err
}

// check checks a job against its definitions: its template is usable, its type is declared, its params
// are valid. A replayed request is not checked again: it was valid when it was first sent.
func (d *definitionCache) check(n *rota.NewJob) error {
	if d.c.replay {
		return nil
	}
	var defaults json.RawMessage
	name := n.Type
	if n.Template != "" {
		t, err := d.findTemplate(n.Template)
		if err != nil {
			return err
		}
		if n.Type != "" && n.Type != t.Spec.Type {
			return rota.Invalidf("type", "is %s, but template %s has type %s; omit type", n.Type, n.Template, t.Spec.Type)
		}
		defaults, name = t.Spec.Params, t.Spec.Type
	}
	t, err := d.findType(name)
	if err != nil {
		return err
	}
	return d.c.checkParams(t, defaults, n.Params)
}
