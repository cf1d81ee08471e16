package rota

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// declaredTypes caches the names of types that the client has found in the store.
type declaredTypes struct {
	mu    sync.Mutex
	names map[string]bool
}

// declaredMax bounds the cache, since a program may generate type names.
const declaredMax = 10_000

func (d *declaredTypes) has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[name]
}

func (d *declaredTypes) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names == nil || len(d.names) >= declaredMax {
		d.names = map[string]bool{}
	}
	d.names[name] = true
}

// declare declares the type of a payload, once per client. If the type exists, the
// client changes nothing except that it adds a missing schema.
func (c *Client) declare(ctx context.Context, p Payload) error {
	command, err := c.declaration(ctx, p)
	if err != nil || command == nil {
		return err
	}
	_, err = apply[*TypePut](ctx, c, command)
	if err = unlessDeclared(err); err == nil {
		c.declared.add(command.Name)
	}
	return err
}

// declaration returns the command that declares the type of a payload, nil if the store
// needs none.
func (c *Client) declaration(ctx context.Context, p Payload) (*PutType, error) {
	name := p.JobType()
	if c.declared.has(name) {
		return nil, nil
	}
	schema, err := c.schema(p)
	if err != nil {
		return nil, err
	}
	known, err := c.typeOf(ctx, name)
	switch {
	case CodeOf(err) == NotFound:
		return &PutType{Meta: NewMeta(c.actor), Name: name, Mode: PutCreate, Spec: TypeSpec{Schema: schema}}, nil
	case err != nil:
		return nil, err
	case len(known.Spec.Schema) == 0 && len(schema) > 0:
		spec := known.Spec
		spec.Schema = schema
		return &PutType{Meta: NewMeta(c.actor), Name: name, Mode: PutReplace, Version: &known.Version, Spec: spec}, nil
	}
	c.declared.add(name)
	return nil, nil
}

// unlessDeclared ignores a Conflict of a declaration: another process declared the type
// first.
func unlessDeclared(err error) error {
	if CodeOf(err) == Conflict {
		return nil
	}
	return err
}

// schema returns the schema of the payload's Go type, nil if it is not checked.
func (c *Client) schema(p Payload) (json.RawMessage, error) {
	if c.checker == nil {
		return nil, nil
	}
	schema, err := c.checker.Schema(p)
	if err != nil && c.lenient {
		return nil, nil
	}
	return schema, err
}

// Schedule declares a template and a schedule, both with this name. A program can
// call it at every start: an unchanged declaration changes nothing, not even the
// next fire. A changed declaration applies from now on. A paused or disabled
// schedule keeps its state. If the template is archived, the error is Conflict.
//
// One of Cron, Every and At sets the times. Job options, such as Retries, apply to
// each job that the schedule creates.
func (c *Client) Schedule(ctx context.Context, name string, p Payload, options ...Option) error {
	return c.schedule(ctx, c.inStore, name, p, options)
}

func (c *Client) schedule(ctx context.Context, send sender, name string, p Payload, options []Option) error {
	command, err := c.scheduling(ctx, name, p, options)
	if err == nil {
		err = c.putSchedule(ctx, send, p, command)
	}
	return withAct("schedule "+quote(name), err)
}

// putSchedule declares a template with its schedule. The store accepts an unchanged
// declaration of an archived template. This function refuses it, because the
// schedule would not fire.
func (c *Client) putSchedule(ctx context.Context, send sender, p Payload, command *All) error {
	result, err := send(ctx, []Payload{p}, command)
	var done *AllDone
	if err == nil {
		done, err = replyOf[*AllDone](command, result)
	}
	if err != nil {
		return missingIsInvalid(withoutPrefix(withoutPrefix(err, "members[0]."), "members[1]."))
	}
	put, is := done.Replies[0].(*TemplatePut)
	if is && put.Template.State == TemplateArchived {
		return &Error{Code: Conflict, Field: "template", Reason: "is archived", Hint: "unarchive the template, or use another name"}
	}
	return nil
}

// missingIsInvalid turns NotFound for a name in the options, such as a dependency, into
// Invalid: the options are wrong.
func missingIsInvalid(err error) error {
	e, is := err.(*Error)
	if !is || e.Code != NotFound || e.Field == "" {
		return err
	}
	invalid := *e
	invalid.Code = Invalid
	return &invalid
}

// scheduling returns the command that declares a template and its schedule.
func (c *Client) scheduling(ctx context.Context, name string, p Payload, options []Option) (*All, error) {
	params, err := c.params(p)
	if err != nil {
		return nil, err
	}
	r := request{call: callSchedule}
	if err := r.take(options); err != nil {
		return nil, err
	}
	template := &PutTemplate{Meta: NewMeta(c.actor), Name: name, Spec: r.template(p.JobType(), params)}
	if err := template.Validate(); err != nil {
		return nil, err
	}
	now, err := c.now(ctx)
	if err != nil {
		return nil, err
	}
	r.spec.Template = name
	schedule, err := Declare(NewMeta(c.actor), name, r.spec, now)
	if err != nil {
		return nil, err
	}
	return &All{Meta: NewMeta(c.actor), Members: []Command{template, schedule}}, nil
}

// now returns the time by the store's clock.
func (c *Client) now(ctx context.Context) (time.Time, error) {
	due, err := withRetry(ctx, c, func() (Due, error) { return c.store.NextDue(ctx) })
	if err != nil || !due.Now.IsZero() {
		return due.Now, err
	}
	return time.Now(), nil
}
