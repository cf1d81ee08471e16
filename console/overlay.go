package console

import (
	"maps"

	"github.com/rotajobs/rota"
)

// overlay is what a transaction would change, as far as later statements of it ask:
// its definitions. What stands there with nil is gone.
type overlay struct {
	schedules map[string]*rota.Schedule
	templates map[string]*rota.Template
	archived  map[string]bool // templates that went with their job
	dropped   bool            // something was: others may have lost a dependency
}

func newOverlay() *overlay {
	return &overlay{schedules: map[string]*rota.Schedule{}, templates: map[string]*rota.Template{}, archived: map[string]bool{}}
}

// clone is what is known now, whatever is learned later.
func (o *overlay) clone() *overlay {
	return &overlay{
		schedules: maps.Clone(o.schedules), templates: maps.Clone(o.templates), archived: maps.Clone(o.archived), dropped: o.dropped,
	}
}

// learn takes over what commands of a transaction would do, by their replies. They
// are all that has to do with what they name.
func (o *overlay) learn(commands []rota.Command, replies []rota.Reply) {
	for i, reply := range replies {
		switch r := reply.(type) {
		case *rota.SchedulePut:
			if r.Schedule != nil { // of a statement sent again it may be gone
				o.schedules[r.Schedule.Name] = r.Schedule
			}
		case *rota.TemplatePut:
			if r.Template != nil {
				o.templates[r.Template.Name] = r.Template
				delete(o.archived, r.Template.Name)
			}
		case *rota.Dropped:
			o.drop(commands[i].(*rota.Drop), r)
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

// state is a template as the transaction would leave it.
func (o *overlay) state(t *rota.Template) *rota.Template {
	if t == nil || !o.archived[t.Name] {
		return t
	}
	archived := *t
	archived.State = rota.TemplateArchived
	return &archived
}
