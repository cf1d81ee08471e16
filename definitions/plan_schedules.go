package definitions

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// schedulePlan is a schedule of the document and what the write does to it.
type schedulePlan struct {
	name, path      string
	command         *rota.PutSchedule
	current, target *rota.Schedule
	changed         bool         // its fields change
	owner           *planCommand // sets its owner; nil: it has it already
	leftOut         bool
}

func (p *plan) planSchedules() error {
	if err := planEach(p, "schedules", p.body.Schedules, p.Store.Schedule, p.planSchedule); err != nil {
		return err
	}
	if len(p.errs) > 0 {
		return nil
	}
	if err := p.orderSchedules(); err != nil {
		return err
	}
	p.commands = append(p.commands, p.archiving...)
	return nil
}

func (p *plan) planSchedule(path, name string, d api.ScheduleDefinition, current *rota.Schedule) error {
	draft := &schedulePlan{name: name, path: path, current: current}
	spec, err := d.Spec()
	if err != nil {
		return err
	}
	if draft.command, err = rota.Declare(p.meta("schedule "+name), name, spec, p.now); err != nil {
		return err
	}
	if d.State != "" {
		if draft.command.State, err = api.ParseScheduleState(&d.State); err != nil {
			return err
		}
	}
	template, err := p.Template(draft.command.Spec.Template)
	if _, named := p.body.Templates[draft.command.Spec.Template]; err != nil && named {
		return nil // the template itself has an error
	}
	if err != nil && !p.request.Replay {
		return err
	}
	if template != nil && template.State == rota.TemplateArchived && draft.command.State != "" && draft.command.State != rota.ScheduleDisabled {
		return problem.New(rota.Invalid, "state", "set the template to ACTIVE, or the schedule to DISABLED",
			"is %s, but template %s is archived", draft.command.State, template.Name)
	}
	if err := p.anchor(draft, d.Anchor.Time); err != nil {
		return err
	}
	stored := ""
	if current != nil {
		stored = current.Owner
	}
	owner, err := p.ownerOf(d.Owner, stored)
	if err != nil {
		return err
	}
	p.schedulePlans[name] = draft
	if err := p.scheduleItem(draft, d.Anchor.Time, owner); err != nil {
		return err
	}
	if !draft.leftOut {
		p.noteOwner(d.Owner, owner)
	}
	if draft.leftOut && p.request.Strict && !p.request.Replay {
		return p.expiredError(&draft.command.Spec)
	}
	if draft.changed && !p.request.Replay {
		return p.checkOverrides(template, &draft.command.Spec)
	}
	return nil
}

// anchor sets the start of an interval: the anchor of the document, or that of the stored schedule if
// the interval is the same, so that the fire times stay.
func (p *plan) anchor(d *schedulePlan, given time.Time) error {
	c := d.command
	if !api.Anchored(&c.Spec) {
		return nil
	}
	switch {
	case !given.IsZero():
		c.Anchor = given.UTC().Truncate(time.Microsecond)
	case d.current != nil && api.Anchored(&d.current.Spec) && d.current.Spec.Every == c.Spec.Every:
		c.Anchor = d.current.Anchor
	}
	if err := c.Validate(); err != nil {
		return err
	}
	next, err := (&rota.Schedule{Name: d.name, Spec: c.Spec, Anchor: c.Anchor}).NextAfter(p.now)
	c.Next = next
	return err
}

// scheduleItem decides what happens to a schedule.
func (p *plan) scheduleItem(d *schedulePlan, anchor time.Time, owner string) error {
	c := d.command
	d.target = &rota.Schedule{Name: d.name, Owner: owner, Spec: c.Spec, State: c.State, Anchor: c.Anchor}
	sameTimes := d.current != nil && d.current.Spec.SameTimes(c.Spec)
	if c.State == "" {
		if d.target.State = rota.ScheduleEnabled; d.current != nil {
			d.target.State = d.current.State
		}
	}
	var notes []string
	expired := p.expired(&c.Spec)
	switch {
	case expired != "" && !sameTimes:
		p.leaveOut(d, expired)
		return nil
	case expired != "" && d.target.State != d.current.State && d.target.State != rota.ScheduleDisabled:
		notes = append(notes, expired+"; its state stays "+string(d.current.State))
		c.State, d.target.State = "", d.current.State
	}
	if d.current == nil {
		c.Mode, d.changed = rota.PutCreate, p.addItem("schedule", d.name, nil, nil, "")
		importer, err := p.importer()
		if owner != importer {
			d.owner = new(p.ownerCommand(d.path, rota.ExpectSchedule, d.name, owner, nil))
		}
		return err
	}
	begins := d.current.State == rota.ScheduleDisabled && d.target.State != rota.ScheduleDisabled
	if sameTimes && !begins { // its fire times and its anchor stay
		if d.target.Anchor = d.current.Anchor; api.Anchored(&c.Spec) && !anchor.IsZero() && !c.Anchor.Equal(d.current.Anchor) {
			notes = append(notes, "the interval keeps its anchor "+d.current.Anchor.Format(time.RFC3339Nano)+"; to use the anchor of the document, delete the schedule first")
		}
	}
	c.Mode, c.Version = rota.PutReplace, &d.current.Version
	wrote := p.changedByRequest(d.current.Version, d.current.Since.Equal(d.current.UpdatedAt), "schedule "+d.name, ownerAct(rota.ExpectSchedule, d.name))
	before, after := api.NewScheduleDefinition(d.current), api.NewScheduleDefinition(d.target)
	if !p.addItem("schedule", d.name, before, after, wrote, notes...) {
		return nil
	}
	before.Owner = after.Owner
	version := &d.current.Version
	if d.changed = len(changedFields(before, after)) > 0; d.changed {
		version = nil
	}
	if owner != d.current.Owner {
		d.owner = new(p.ownerCommand(d.path, rota.ExpectSchedule, d.name, owner, version))
	}
	return nil
}

// expired returns the reason why a schedule never fires again, or an empty string.
func (p *plan) expired(s *rota.ScheduleSpec) string {
	switch {
	case !s.At.IsZero() && s.At.Before(p.now):
		return "its only fire time, " + s.At.Format(time.RFC3339) + ", has passed"
	case !s.EndsAt.IsZero() && s.EndsAt.Before(p.now):
		return "its ends_at, " + s.EndsAt.Format(time.RFC3339) + ", has passed"
	}
	return ""
}

// expiredError refuses a schedule that never fires again.
func (p *plan) expiredError(s *rota.ScheduleSpec) error {
	if !s.At.IsZero() {
		return problem.New(rota.Invalid, "at", "choose a later time", "%s has passed", s.At.Format(time.RFC3339))
	}
	return problem.New(rota.Invalid, "ends_at", "choose a later time", "%s has passed", s.EndsAt.Format(time.RFC3339))
}

// leaveOut skips a schedule that can no longer be declared.
func (p *plan) leaveOut(d *schedulePlan, why string) {
	d.leftOut = true
	change := api.DefinitionChange{Kind: "schedule", Name: d.name, Change: changeLeftOut, Notes: []string{why + "; it is not created"}}
	if d.current != nil {
		change.Notes = []string{why + "; the stored schedule is unchanged"}
	}
	p.items = append(p.items, change)
}

// checkOverrides checks the params of a schedule against the schema of its type.
func (p *plan) checkOverrides(template *rota.Template, s *rota.ScheduleSpec) error {
	if p.typeRefused(template.Spec.Type) {
		return nil
	}
	t, err := p.Type(template.Spec.Type)
	if err != nil {
		return problem.Recode(err, rota.Invalid, rota.Invalid, "template")
	}
	if compiled := p.schemas[t.Name]; compiled != nil {
		return compiled.Check(rota.MergeParams(template.Spec.Params, s.Params))
	}
	return p.CheckParams(t, template.Spec.Params, s.Params)
}

// orderSchedules orders the schedules after their dependencies, as these will be after the write. The
// rules require dependencies to exist, and an intermediate state must not contain a cycle that the
// final state does not.
func (p *plan) orderSchedules() error {
	state := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(p.body.Schedules)) {
		if err := p.visit(name, state, nil); err != nil {
			return p.addError(api.FieldPath("schedules", name), err)
		}
	}
	return nil
}

const (
	visiting = 1
	visited  = 2
)

func (p *plan) visit(name string, state map[string]int, path []string) error {
	path = append(path, name)
	switch state[name] {
	case visited:
		return nil
	case visiting:
		return cycleError(path)
	}
	state[name] = visiting
	needs, err := p.dependsOn(name)
	if err != nil {
		return err
	}
	for _, on := range needs {
		if err := p.visit(on, state, path); err != nil {
			return err
		}
		p.chainLength[name] = max(p.chainLength[name], p.chainLength[on])
	}
	p.chainLength[name]++
	state[name] = visited
	d := p.schedulePlans[name]
	if d != nil && d.changed {
		if p.chainLength[name] > chainMax {
			return problem.New(rota.Invalid, "depends_on", "remove some dependencies, or combine schedules",
				"%s ends a chain of more than %d schedules that each depend on the next", name, chainMax)
		}
		p.unarchiveFirst(d.command.Spec.Template)
		p.addCommand(d.path, d.command)
	}
	if d != nil && d.owner != nil {
		p.commands = append(p.commands, *d.owner)
	}
	return nil
}

// chainMax limits the length of a chain of dependent schedules: each declared schedule is checked
// against all schedules after it while other writers wait.
const chainMax = 1_000

func cycleError(path []string) error {
	name := path[len(path)-1]
	return problem.New(rota.Invalid, "depends_on", "remove one of these dependencies", "makes a cycle: %s", strings.Join(path[slices.Index(path, name):], " → "))
}

// dependsOn returns the dependencies of a schedule as they will be after the write.
func (p *plan) dependsOn(name string) ([]string, error) {
	if d := p.schedulePlans[name]; d != nil && !d.leftOut {
		return d.command.Spec.DependsOn, p.checkDependencies(d)
	}
	if needs, known := p.storedDependencies[name]; known {
		return needs, nil
	}
	s, err := nilIfNotFound(p.Store.Schedule(p.ctx, name))
	if err != nil {
		return nil, err
	}
	if s != nil {
		p.storedDependencies[name] = s.Spec.DependsOn
	}
	return p.storedDependencies[name], nil
}

// checkDependencies refuses a dependency on a schedule that does not exist and will not be created.
func (p *plan) checkDependencies(d *schedulePlan) error {
	for _, on := range d.command.Spec.DependsOn {
		if other := p.schedulePlans[on]; other != nil {
			if other.leftOut && other.current == nil && d.changed {
				return problem.New(rota.Invalid, "depends_on", "remove it from depends_on", "names %s, which is not created because its time has passed", on)
			}
			continue
		}
		if _, err := p.Store.Schedule(p.ctx, on); err != nil && !p.request.Replay {
			if rota.CodeOf(err) != rota.NotFound {
				return err
			}
			return problem.New(rota.Invalid, "depends_on", "check the name", "there is no schedule %s in the document or in the store", on)
		}
	}
	return nil
}
