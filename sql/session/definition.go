package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// definition is the new state of a job: its schedule and template, and the existing ones.
type definition struct {
	name         string
	schedule     *rota.Schedule // existing; nil: none
	template     *rota.Template // existing; nil: none
	replaced     *rota.Template // existing, without a job; nil: none
	spec         rota.ScheduleSpec
	templateSpec rota.TemplateSpec
	state        rota.ScheduleState // empty: unchanged
	keepOthers   bool               // clauses that are not given stay unchanged
	recreate     bool               // the job is dropped first
	notices      []string           // what the statement does that its author may not expect
}

// answer answers the statement that declares the job.
func (d *definition) answer(tag string) *Answer { return &Answer{Tag: tag, Notices: d.notices} }

// apply applies the given clauses.
func (d *definition) apply(p *planner, c *ddl.Clauses) error {
	if err := d.applyTimes(c); err != nil {
		return err
	}
	if err := d.applyAction(p, c); err != nil {
		return err
	}
	d.noticeNotHonoured(p, c)
	s := &d.spec
	setIfGiven(&s.Class, c.Class)
	setIfGiven(&s.CatchUp, c.CatchUp)
	setIfGiven(&s.Overlap, c.Overlap)
	setIfGiven(&s.OnCompletion, c.OnCompletion)
	setIfGiven(&s.Description, c.Description)
	setIfGiven(&d.state, c.State)
	if c.Partition != nil {
		s.Partition = rota.Partition{
			Strategy: rota.Strategy(c.Partition.Strategy), Shards: c.Partition.Shards, Expression: c.Partition.Expression,
		}
	}
	if c.DependsGiven {
		s.DependsOn = slices.Clone(c.DependsOn)
	}
	setPtrIfGiven(&s.Policy.MaxRetries, c.MaxRetries)
	setPtrIfGiven(&s.Policy.Backoff, c.RetryBackoff)
	setPtrIfGiven(&s.Policy.Timeout, c.Timeout)
	setPtrIfGiven(&s.Priority, c.Priority)
	if c.Params != nil {
		s.Params = json.RawMessage(*c.Params)
	}
	return d.check(p)
}

// noticeNotHonoured adds a notice for each given clause that is stored and has no effect yet.
func (d *definition) noticeNotHonoured(p *planner, c *ddl.Clauses) {
	if c.Class != nil && rota.Class(*c.Class) != rota.ClassLocalSafe {
		d.notice("CLASS = %s is stored, but this server does not honour it yet: any node may run the job", *c.Class)
	}
	if c.Partition != nil {
		d.notice("PARTITION BY %s is stored, but this server does not honour it yet: it has no shards, and each fire starts one run", c.Partition.Strategy)
	}
	if c.Action == nil || c.Action.Kind != ddl.Exec {
		return
	}
	switch p.config.Exec {
	case ProgramsOff:
		d.notice("EXEC is stored, but this server does not run programs; another server or worker of this store may. If none does, jobs wait until the configuration of a server has the section exec")
	case ProgramsRemote:
		d.notice("EXEC is stored; this server leaves programs to remote workers: jobs wait until rota worker --types exec, or another server of this store, takes them")
	}
}

func (d *definition) notice(format string, args ...any) {
	d.notices = append(d.notices, fmt.Sprintf(format, args...))
}

func setIfGiven[W ~string](field *W, word *string) {
	if word != nil {
		*field = W(*word)
	}
}

func setPtrIfGiven[T any](field **T, given *T) {
	if given != nil {
		*field = given
	}
}

// check validates the params against the schema of the type.
func (d *definition) check(p *planner) error {
	t, err := p.typeNamed(d.templateSpec.Type)
	if err != nil {
		return err
	}
	return p.config.Schemas.Check(t, rota.MergeParams(d.templateSpec.Params, d.spec.Params))
}

func (p *planner) typeNamed(name string) (*rota.Type, error) {
	t, err := p.store.Type(p.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, newError(StateNoProcedure, "check the name; a worker declares the types of its handlers, rota type put "+name+" or PUT /types/NAME declares any type", "there is no type %s", name).at(ddl.PlaceAction)
	}
	return t, err
}

// commands returns the commands that declare the job. It leaves out a template that does not change.
func (d *definition) commands(p *planner, putTemplate, putSchedule rota.Meta) (all []rota.Command, err error) {
	switch t := d.template; {
	case t == nil:
		all = append(all, &rota.PutTemplate{Meta: putTemplate, Name: d.spec.Template, Mode: rota.PutCreate, Spec: d.templateSpec})
	case d.recreate || !t.Spec.Equal(d.templateSpec) || t.State == rota.TemplateArchived && !d.keepOthers:
		all = append(all, &rota.PutTemplate{
			Meta: putTemplate, Name: t.Name, Mode: rota.PutReplace, Version: p.version(t.Version, p.changes.templates[t.Name] != nil), Spec: d.templateSpec, OnlySchedule: d.name, Recreate: d.recreate,
		})
		if t.State == rota.TemplateArchived && !d.keepOthers {
			all = append(all, &rota.Unarchive{Meta: p.newMeta(), Name: t.Name})
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
		put.Mode, put.Version = rota.PutReplace, p.version(d.schedule.Version, p.changes.schedules[d.name] != nil)
	}
	return append(all, put), nil
}
