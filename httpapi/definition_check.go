package httpapi

import (
	"encoding/json"

	"github.com/rotajobs/rota"
)

// findType is a type that a request names. That nobody declared it is a mistake
// in the request.
func (c *call) findType(name string) (*rota.Type, error) {
	t, err := c.Store.Type(c.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, &rota.Error{
			Code: rota.Invalid, Field: "type", Reason: "nobody declared the type " + name,
			Hint: "see that the name is right, or declare it with PUT /types/NAME",
		}
	}
	return t, err
}

// findTemplate is a template that a request names, if it may be used.
func (c *call) findTemplate(name string) (*rota.Template, error) {
	t, err := c.Store.Template(c.ctx, name)
	switch {
	case rota.CodeOf(err) == rota.NotFound:
		return nil, &rota.Error{
			Code: rota.Invalid, Field: "template", Reason: "there is no template " + name, Hint: "see that the name is right",
		}
	case err != nil:
		return nil, err
	case t.State == rota.TemplateArchived:
		return nil, &rota.Error{
			Code: rota.Conflict, Field: "template", Reason: "template " + name + " is archived: nothing more is made from it",
			Hint: "unarchive it, or use another",
		}
	}
	return t, nil
}

// checkParams holds params, as a handler will get them, to the schema of their
// type.
func (c *call) checkParams(t *rota.Type, layers ...json.RawMessage) error {
	return c.Schemas.Check(t, rota.MergeParams(layers...))
}

// definitionCache are the types and templates that one request has to do with, each
// read once.
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

// check holds a job to its definitions: its template may be used, its type was
// declared, its params fit. That is asked once: what was sent before was right
// then.
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
			return rota.Invalidf("type", "is %s, but template %s is of type %s; leave it out", n.Type, n.Template, t.Spec.Type)
		}
		defaults, name = t.Spec.Params, t.Spec.Type
	}
	t, err := d.findType(name)
	if err != nil {
		return err
	}
	return d.c.checkParams(t, defaults, n.Params)
}
