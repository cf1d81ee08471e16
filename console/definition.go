package console

import (
	"encoding/json"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/ddl"
)

// definition is a job as it is to become: a schedule and a template, and what of
// both is there.
type definition struct {
	name     string
	schedule *rota.Schedule // as it is; nil: it is new
	template *rota.Template // as it is; nil: it is new
	spec     rota.ScheduleSpec
	what     rota.TemplateSpec
	state    rota.ScheduleState // empty: as it is
	kept     bool               // what is not said stays as it is
	recreate bool               // declare it as if it had not existed
}

// apply changes what clauses say.
func (d *definition) apply(p *planner, c *ddl.Clauses) error {
	if err := d.applyTimes(c); err != nil {
		return err
	}
	if err := d.applyAction(p, c); err != nil {
		return err
	}
	s := &d.spec
	say(&s.Class, c.Class)
	say(&s.CatchUp, c.CatchUp)
	say(&s.Overlap, c.Overlap)
	say(&s.OnCompletion, c.OnCompletion)
	say(&s.Description, c.Description)
	say(&d.state, c.State)
	if c.Partition != nil {
		s.Partition = rota.Partition{
			Strategy: rota.Strategy(c.Partition.Strategy), Shards: c.Partition.Shards, Expression: c.Partition.Expression,
		}
	}
	if c.DependsGiven {
		s.DependsOn = slices.Clone(c.DependsOn)
	}
	sayPtr(&s.Policy.MaxRetries, c.MaxRetries)
	sayPtr(&s.Policy.Backoff, c.RetryBackoff)
	sayPtr(&s.Policy.Timeout, c.Timeout)
	sayPtr(&s.Priority, c.Priority)
	if c.Params != nil {
		s.Params = json.RawMessage(*c.Params)
	}
	return d.check(p)
}

func say[W ~string](field *W, word *string) {
	if word != nil {
		*field = W(*word)
	}
}

func sayPtr[T any](field **T, given *T) {
	if given != nil {
		*field = given
	}
}

// check refuses what does not fit together, and holds the job to what is declared
// of its type.
func (d *definition) check(p *planner) error {
	if d.spec.OnCompletion == rota.CompletionDrop && d.spec.At.IsZero() {
		return refuse(StateBadValue, "leave it out", "ON COMPLETION DROP needs SCHEDULE = AT: CRON and EVERY schedules never complete")
	}
	t, err := p.typeNamed(d.what.Type)
	if err != nil {
		return err
	}
	return p.config.Schemas.Check(t, rota.MergeParams(d.what.Params, d.spec.Params))
}

func (p *planner) typeNamed(name string) (*rota.Type, error) {
	t, err := p.config.Store.Type(p.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, refuse(StateNoProcedure, "check the name; a worker declares the types of its handlers, PUT /types/NAME declares any type", "there is no type %s", name)
	}
	return t, err
}

// commands declare the job. A template that stays as it is is left alone.
func (d *definition) commands(p *planner, putTemplate, putSchedule rota.Meta) (all []rota.Command, err error) {
	switch t := d.template; {
	case t == nil:
		all = append(all, &rota.PutTemplate{Meta: putTemplate, Name: d.spec.Template, Mode: rota.PutCreate, Spec: d.what})
	case !t.Spec.Equal(d.what) || t.State == rota.TemplateArchived && !d.kept:
		all = append(all, &rota.PutTemplate{
			Meta: putTemplate, Name: t.Name, Mode: rota.PutReplace, Version: p.version(t.Version, p.seen.templates[t.Name] != nil), Spec: d.what, OnlySchedule: d.name,
		})
		if t.State == rota.TemplateArchived && !d.kept {
			all = append(all, &rota.Unarchive{Meta: p.mint(), Name: t.Name})
		}
	}
	put, err := rota.Declare(putSchedule, d.name, d.spec, p.now)
	if err != nil {
		return nil, err
	}
	put.State, put.Recreate = d.state, d.recreate
	switch {
	case d.recreate:
	case d.schedule == nil:
		put.Mode = rota.PutCreate
	default:
		put.Mode, put.Version = rota.PutReplace, p.version(d.schedule.Version, p.seen.schedules[d.name] != nil)
	}
	return append(all, put), nil
}
