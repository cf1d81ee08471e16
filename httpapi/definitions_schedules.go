package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// draft is a schedule of a document, and what is to become of it.
type draft struct {
	name, path string
	command    *rota.PutSchedule
	was, is    *rota.Schedule
	change     bool
	leftOut    bool
}

func (p *plan) planSchedules() error {
	for _, name := range namesOf(p.body.Schedules) {
		path := joinPath("schedules", name)
		was, err := found(p.c.Store.Schedule(p.c.ctx, name))
		if err == nil {
			err = p.planSchedule(path, name, p.body.Schedules[name], was)
		}
		if err != nil {
			if err := p.refuse(path, err); err != nil {
				return err
			}
		}
	}
	if len(p.refused) > 0 {
		return nil
	}
	if err := p.order(); err != nil {
		return err
	}
	p.members = append(p.members, p.closing...)
	return nil
}

func (p *plan) planSchedule(path, name string, d ScheduleDefinition, was *rota.Schedule) error {
	draft := &draft{name: name, path: path, was: was}
	request, err := d.request()
	if err != nil {
		return err
	}
	spec := rota.ScheduleSpec{}
	if err := request.apply(&spec); err != nil {
		return err
	}
	if draft.command, err = rota.Declare(p.meta("schedule "+name), name, spec, p.now); err != nil {
		return err
	}
	if draft.command.State, err = request.state(); err != nil {
		return err
	}
	template, err := p.template(draft.command.Spec.Template)
	if _, named := p.body.Templates[draft.command.Spec.Template]; err != nil && named {
		return nil // it was refused itself
	}
	if err != nil && !p.c.known {
		return err
	}
	if template != nil && template.State == rota.TemplateArchived && draft.command.State != "" && draft.command.State != rota.ScheduleDisabled {
		return &rota.Error{
			Code: rota.Invalid, Field: "state", Reason: fmt.Sprintf("is %s, but template %s is archived", draft.command.State, template.Name),
			Hint: "make the template ACTIVE, or the schedule DISABLED",
		}
	}
	if err := p.anchor(draft, d.Anchor.Time); err != nil {
		return err
	}
	p.schedules[name] = draft
	p.scheduleItem(draft, d.Anchor.Time)
	if draft.change && !p.c.known {
		return p.checkOverrides(template, &draft.command.Spec)
	}
	return nil
}

// request is the definition as a request for a schedule, which knows how to read
// words and scopes.
func (d *ScheduleDefinition) request() (*ScheduleRequest, error) {
	r := &ScheduleRequest{
		Template: Some(d.Template), Description: Some(d.Description), Cron: orNull(d.Cron), Timezone: orNull(d.Timezone), Every: Opt[Duration]{Set: true, Value: d.Every},
		At: timeOrNull(d.At), StartsAt: timeOrNull(d.StartsAt), EndsAt: timeOrNull(d.EndsAt), Scopes: Some(d.Scopes), State: orNull(d.State),
		Priority: Opt[int]{Set: true, Value: d.Priority}, CatchUp: orNull(d.CatchUp), Overlap: orNull(d.Overlap), OnCompletion: orNull(d.OnCompletion), DependsOn: Some(d.DependsOn),
		Class: orNull(d.Class), Partition: Opt[Partition]{Set: true, Value: d.Partition},
		PolicyRequest: PolicyRequest{
			MaxRetries: Opt[int]{Set: true, Value: d.MaxRetries}, Backoff: Opt[Duration]{Set: true, Value: d.Backoff}, BackoffMax: Opt[Duration]{Set: true, Value: d.BackoffMax},
			Jitter: Opt[float64]{Set: true, Value: d.Jitter}, Timeout: Opt[Duration]{Set: true, Value: d.Timeout},
		},
	}
	if len(d.ParamOverrides) > 0 {
		r.ParamOverrides = Some(d.ParamOverrides)
	}
	switch {
	case d.Anchor.IsZero():
	case d.Every == nil:
		return nil, rota.Invalidf("anchor", "is given, but only every counts from one")
	case !d.StartsAt.IsZero():
		return nil, rota.Invalidf("anchor", "is given, but it counts from starts_at; leave one of them out")
	}
	return r, nil
}

func orNull(word string) Opt[string] {
	if word == "" {
		return Opt[string]{}
	}
	return Some(word)
}

func timeOrNull(t Time) Opt[Time] {
	if t.IsZero() {
		return Opt[Time]{}
	}
	return Some(t)
}

// anchor lets an interval count from where the document says, or from where it
// has counted, so that it keeps its beat.
func (p *plan) anchor(d *draft, given time.Time) error {
	c := d.command
	if !anchored(&c.Spec) {
		return nil
	}
	switch {
	case !given.IsZero():
		c.Anchor = given.UTC().Truncate(time.Microsecond)
	case d.was != nil && anchored(&d.was.Spec) && d.was.Spec.Every == c.Spec.Every:
		c.Anchor = d.was.Anchor
	}
	if err := c.Validate(); err != nil {
		return err
	}
	next, err := (&rota.Schedule{Name: d.name, Spec: c.Spec, Anchor: c.Anchor}).NextAfter(p.now)
	c.Next = next
	return err
}

// scheduleItem decides what becomes of a schedule.
func (p *plan) scheduleItem(d *draft, anchor time.Time) {
	c := d.command
	d.is = &rota.Schedule{Name: d.name, Spec: c.Spec, State: c.State, Anchor: c.Anchor}
	sameTimes := d.was != nil && d.was.Spec.SameTimes(c.Spec)
	if c.State == "" {
		if d.is.State = rota.ScheduleEnabled; d.was != nil {
			d.is.State = d.was.State
		}
	}
	var notes []string
	past := p.past(&c.Spec)
	switch {
	case past != "" && !sameTimes:
		p.leaveOut(d, past)
		return
	case past != "" && d.is.State != d.was.State && d.is.State != rota.ScheduleDisabled:
		notes = append(notes, past+": it stays "+string(d.was.State))
		c.State, d.is.State = "", d.was.State
	}
	if d.was == nil {
		c.Mode, d.change = rota.PutCreate, p.item("schedule", d.name, nil, nil, "")
		return
	}
	begins := d.was.State == rota.ScheduleDisabled && d.is.State != rota.ScheduleDisabled
	if sameTimes && !begins { // its calendar goes on, and so does what it counts from
		if d.is.Anchor = d.was.Anchor; anchored(&c.Spec) && !anchor.IsZero() && !c.Anchor.Equal(d.was.Anchor) {
			notes = append(notes, "it counts from "+d.was.Anchor.Format(time.RFC3339Nano)+" and goes on so; delete it first to have it count from anchor")
		}
	}
	c.Mode, c.Version = rota.PutReplace, &d.was.Version
	wrote := p.wrote(d.was.Version, d.was.CreatedAt.Equal(d.was.UpdatedAt), "schedule "+d.name)
	d.change = p.item("schedule", d.name, newScheduleDefinition(d.was), newScheduleDefinition(d.is), wrote, notes...)
}

// past says that a schedule will never fire again, if so.
func (p *plan) past(s *rota.ScheduleSpec) string {
	switch {
	case !s.At.IsZero() && s.At.Before(p.now):
		return "it was to fire once, at " + s.At.Format(time.RFC3339) + ", which has passed"
	case !s.EndsAt.IsZero() && s.EndsAt.Before(p.now):
		return "it was to fire until " + s.EndsAt.Format(time.RFC3339) + ", which has passed"
	}
	return ""
}

// leaveOut passes over a schedule that could not be declared any more.
func (p *plan) leaveOut(d *draft, why string) {
	d.leftOut = true
	change := DefinitionChange{Kind: "schedule", Name: d.name, Change: changeLeftOut, Notes: []string{why + ": it is not made"}}
	if d.was != nil {
		change.Notes = []string{why + ": the one that stands there is left alone"}
	}
	p.items = append(p.items, change)
}

// checkOverrides holds what a schedule will run to the schema of its type.
func (p *plan) checkOverrides(template *rota.Template, s *rota.ScheduleSpec) error {
	if p.refusedType(template.Spec.Type) {
		return nil
	}
	t, err := p.typ(template.Spec.Type)
	if err != nil {
		return refusedAs(err, rota.Invalid, rota.Invalid, "template")
	}
	if compiled := p.schemas[t.Name]; compiled != nil {
		return compiled.Check(rota.MergeParams(template.Spec.Params, s.Params))
	}
	return p.c.checkParams(t, template.Spec.Params, s.Params)
}

// order puts the schedules behind those that they depend on, as they will stand:
// the law asks for the others first, and must not see a circle on the way that
// is none in the end.
func (p *plan) order() error {
	state := map[string]int{}
	for _, name := range namesOf(p.body.Schedules) {
		if err := p.visit(name, state, nil); err != nil {
			return p.refuse(joinPath("schedules", name), err)
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
		return circle(path)
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
		p.chains[name] = max(p.chains[name], p.chains[on])
	}
	p.chains[name]++
	state[name] = visited
	if d := p.schedules[name]; d != nil && d.change {
		if p.chains[name] > chainMax {
			return tooLong(name)
		}
		p.open(d.command.Spec.Template)
		p.add(d.path, d.command)
	}
	return nil
}

// chainMax bounds how many schedules depend on each other in a line: each that is
// declared is held against all behind it, while everybody else who writes waits.
const chainMax = 1_000

func tooLong(name string) error {
	return &rota.Error{
		Code: rota.Invalid, Field: "depends_on",
		Reason: fmt.Sprintf("%s is the end of a chain of more than %d schedules, each of which depends on the next", name, chainMax),
		Hint:   "let some of them depend on fewer, or make one schedule of several",
	}
}

func circle(path []string) error {
	name := path[len(path)-1]
	return &rota.Error{
		Code: rota.Invalid, Field: "depends_on", Reason: "makes a cycle: " + strings.Join(path[slices.Index(path, name):], " → "),
		Hint: "leave one of these dependencies out",
	}
}

// dependsOn is what a schedule will depend on.
func (p *plan) dependsOn(name string) ([]string, error) {
	if d := p.schedules[name]; d != nil && !d.leftOut {
		return d.command.Spec.DependsOn, p.mayDepend(d)
	}
	if needs, known := p.edges[name]; known {
		return needs, nil
	}
	s, err := found(p.c.Store.Schedule(p.c.ctx, name))
	if err != nil {
		return nil, err
	}
	if s != nil {
		p.edges[name] = s.Spec.DependsOn
	}
	return p.edges[name], nil
}

// mayDepend refuses what depends on what is not there, and will not be.
func (p *plan) mayDepend(d *draft) error {
	for _, on := range d.command.Spec.DependsOn {
		if other := p.schedules[on]; other != nil {
			if other.leftOut && other.was == nil && d.change {
				return &rota.Error{
					Code: rota.Invalid, Field: "depends_on", Reason: "names " + on + ", which is not made because its time has passed", Hint: "leave it out of depends_on",
				}
			}
			continue
		}
		if _, err := p.c.Store.Schedule(p.c.ctx, on); err != nil && !p.c.known {
			if rota.CodeOf(err) != rota.NotFound {
				return err
			}
			return &rota.Error{
				Code: rota.Invalid, Field: "depends_on", Reason: "there is no schedule " + on + ", neither here nor in the store", Hint: "see that the name is right",
			}
		}
	}
	return nil
}
