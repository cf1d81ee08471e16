package session

import (
	"maps"

	"github.com/rotajobs/rota"
)

// overlay holds the definitions that a transaction changes, for its later statements. A nil value is a dropped
// definition.
type overlay struct {
	schedules map[string]*rota.Schedule
	templates map[string]*rota.Template
	archived  map[string]bool // templates archived with their job
	dropped   bool            // a job was dropped; other jobs may have lost a dependency

	principals map[string]*rota.Principal // a nil value is a dropped one
}

func newOverlay() *overlay {
	return &overlay{schedules: map[string]*rota.Schedule{}, templates: map[string]*rota.Template{}, archived: map[string]bool{}, principals: map[string]*rota.Principal{}}
}

// clone returns a copy that later changes do not affect.
func (o *overlay) clone() *overlay {
	return &overlay{
		schedules: maps.Clone(o.schedules), templates: maps.Clone(o.templates), archived: maps.Clone(o.archived), dropped: o.dropped,
		principals: maps.Clone(o.principals),
	}
}

// record applies the replies of a dry run. The commands include all earlier ones that concern the same names.
func (o *overlay) record(commands []rota.Command, replies []rota.Reply) {
	for i, reply := range replies {
		switch r := reply.(type) {
		case *rota.SchedulePut:
			if r.Schedule != nil { // nil if a resent statement created a schedule that was dropped since
				o.schedules[r.Schedule.Name] = r.Schedule
			}
		case *rota.TemplatePut:
			if r.Template != nil {
				o.templates[r.Template.Name] = r.Template
				delete(o.archived, r.Template.Name)
			}
		case *rota.Dropped:
			o.drop(commands[i].(*rota.Drop), r)
		case *rota.OwnerSet:
			o.own(r)
		case *rota.PrincipalPut:
			if r.Principal != nil {
				o.principals[r.Principal.Name] = r.Principal
			}
		case *rota.PrincipalDropped:
			o.principals[commands[i].(*rota.DropPrincipal).Name] = nil
		}
	}
}

func (o *overlay) drop(c *rota.Drop, r *rota.Dropped) {
	o.dropped = true
	if c.Recreate {
		return
	}
	o.schedules[c.Name] = nil
	if r.Archived {
		o.archived[c.Name] = true
	}
}

func (o *overlay) own(r *rota.OwnerSet) {
	if r.Schedule != nil {
		o.schedules[r.Schedule.Name] = r.Schedule
	}
	if r.Template != nil {
		o.templates[r.Template.Name] = r.Template
	}
}

// withState returns a template with the state that the transaction gives it.
func (o *overlay) withState(t *rota.Template) *rota.Template {
	if t == nil || !o.archived[t.Name] {
		return t
	}
	archived := *t
	archived.State = rota.TemplateArchived
	return &archived
}
