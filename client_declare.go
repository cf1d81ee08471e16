package rota

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// declaredTypes are the types that a client has seen in the store.
type declaredTypes struct {
	mu    sync.Mutex
	names map[string]bool
}

// declaredMost bounds what a client remembers: a payload may make its type names
// up as it goes.
const declaredMost = 10_000

func (d *declaredTypes) has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[name]
}

func (d *declaredTypes) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names == nil || len(d.names) >= declaredMost {
		d.names = map[string]bool{}
	}
	d.names[name] = true
}

// declare makes the type of a payload known to the store, once for each client.
// One that is there belongs to whoever declared it: only a schema is added where
// there is none.
func (c *Client) declare(ctx context.Context, p Payload) error {
	name := p.JobType()
	if c.declared.has(name) {
		return nil
	}
	schema, err := c.schema(p)
	if err != nil {
		return err
	}
	known, err := c.store.Type(ctx, name)
	switch {
	case CodeOf(err) == NotFound:
		err = c.putType(ctx, &PutType{Name: name, Mode: PutCreate, Spec: TypeSpec{Schema: schema}})
	case err == nil && len(known.Spec.Schema) == 0 && len(schema) > 0:
		spec := known.Spec
		spec.Schema = schema
		err = c.putType(ctx, &PutType{Name: name, Mode: PutReplace, Version: &known.Version, Spec: spec})
	}
	if err != nil {
		return err
	}
	c.declared.add(name)
	return nil
}

func (c *Client) schema(p Payload) (json.RawMessage, error) {
	if c.checker == nil {
		return nil, nil
	}
	return c.checker.Schema(p)
}

// putType declares a type, unless somebody was quicker.
func (c *Client) putType(ctx context.Context, command *PutType) error {
	command.Meta = NewMeta(c.actor)
	_, err := settle[*TypePut](ctx, c.store, command)
	if CodeOf(err) == Conflict {
		return nil
	}
	return err
}

// Schedule declares when a payload is run: a template and a schedule, both of
// this name. Declared again as it stands it changes nothing, not even the next
// fire, so that a program declares its schedules at every start. What changed is
// changed from then on; one that somebody paused or disabled stays so. Conflict
// says that its template is archived.
//
// One of Cron, Every and At says when. Options of a job, such as Retries, are
// for each job that the schedule makes.
func (c *Client) Schedule(ctx context.Context, name string, p Payload, options ...Option) error {
	command, err := c.scheduling(ctx, name, p, options)
	if err == nil {
		err = c.declare(ctx, p)
	}
	if err == nil {
		err = c.putSchedule(ctx, command)
	}
	return about("schedule "+quote(name), err)
}

// putSchedule declares a template with its schedule. The store lets an archived
// one be declared as it stands, since that changes nothing; but it would not
// fire, and whoever declares it means it to.
func (c *Client) putSchedule(ctx context.Context, command *All) error {
	done, err := settle[*AllDone](ctx, c.store, command)
	if err != nil {
		return err
	}
	put, is := done.Replies[0].(*TemplatePut)
	if is && put.Template.State == TemplateArchived {
		return &Error{Code: Conflict, Reason: "its template is archived", Hint: "unarchive it, or use another name"}
	}
	return nil
}

// scheduling is the command that declares a template and its schedule.
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

// now is the time by the clock that the store goes by.
func (c *Client) now(ctx context.Context) (time.Time, error) {
	due, err := c.store.NextDue(ctx)
	if err != nil || !due.Now.IsZero() {
		return due.Now, err
	}
	return time.Now(), nil
}
