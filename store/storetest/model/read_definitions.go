package model

import (
	"cmp"
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// Type returns a type.
func (m *Model) Type(_ context.Context, name string) (*rota.Type, error) {
	return read(m, func(s *state) (*rota.Type, error) {
		return found(copyType(s.typ(name)), "type", name)
	})
}

// Types lists types by name.
func (m *Model) Types(_ context.Context, q rota.NameQuery) ([]*rota.Type, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return read(m, func(s *state) ([]*rota.Type, error) {
		rows := after(s.types, q.After, func(t *rota.Type) string { return t.Name })
		rows = slices.DeleteFunc(rows, func(t *rota.Type) bool { return rota.InternalType(t.Name) })
		return copyPage(rows, q.Limit, copyType), nil
	})
}

// Template returns a template.
func (m *Model) Template(_ context.Context, name string) (*rota.Template, error) {
	return read(m, func(s *state) (*rota.Template, error) {
		return found(copyTemplate(s.template(name)), "template", name)
	})
}

// Templates lists templates by name.
func (m *Model) Templates(_ context.Context, q rota.NameQuery) ([]*rota.Template, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return read(m, func(s *state) ([]*rota.Template, error) {
		rows := after(s.templates, q.After, func(t *rota.Template) string { return t.Name })
		return copyPage(rows, q.Limit, copyTemplate), nil
	})
}

// Schedule returns a schedule.
func (m *Model) Schedule(_ context.Context, name string) (*rota.Schedule, error) {
	return read(m, func(s *state) (*rota.Schedule, error) {
		return found(copySchedule(s.schedule(name)), "schedule", name)
	})
}

// Schedules lists schedules by name, or by their next fire.
func (m *Model) Schedules(_ context.Context, q rota.ScheduleQuery) ([]*rota.Schedule, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return read(m, func(s *state) ([]*rota.Schedule, error) {
		rows := s.schedulesWhere(func(d *rota.Schedule) bool {
			return (q.ByNext && nextIn(d, &q) || !q.ByNext && d.Name > q.After) &&
				(!q.Idle || d.NextFire.IsZero()) &&
				(q.State == "" || d.State == q.State) &&
				(q.Template == "" || d.Spec.Template == q.Template) &&
				(q.Ahead.IsZero() || d.MovedAt.After(q.Ahead))
		})
		if q.ByNext {
			slices.SortFunc(rows, byNext)
		}
		return copyPage(rows, q.Limit, copySchedule), nil
	})
}

// nextIn reports whether the next fire of a schedule is within the bounds of a query and after
// its previous page.
func nextIn(d *rota.Schedule, q *rota.ScheduleQuery) bool {
	behind := q.NextAfter.IsZero() || d.NextFire.After(q.NextAfter) || d.NextFire.Equal(q.NextAfter) && d.Name > q.After
	return !d.NextFire.IsZero() && behind && !d.NextFire.Before(q.NextFrom) && (q.NextUntil.IsZero() || !d.NextFire.After(q.NextUntil))
}

// byNext orders schedules by next fire and then by name.
func byNext(a, b *rota.Schedule) int {
	return cmp.Or(a.NextFire.Compare(b.NextFire), cmp.Compare(a.Name, b.Name))
}

// Definition returns the name of a definition id.
func (m *Model) Definition(_ context.Context, id rota.ID) (string, error) {
	return read(m, func(s *state) (string, error) {
		name, known := s.names[id]
		if !known {
			return "", rota.Errorf(rota.NotFound, "definition", "no definition has the id %s", id)
		}
		return name, nil
	})
}

// recordNames records the names of all schedules. A name is kept after its definition is
// removed.
func (s *state) recordNames() {
	for _, d := range s.schedules {
		s.names[rota.DefinitionID(d.Name)] = d.Name
	}
}

// Group returns a group with its tally.
func (m *Model) Group(_ context.Context, id rota.ID) (*rota.Group, error) {
	return read(m, func(s *state) (*rota.Group, error) {
		g, err := found(s.group(id), "group", id.String())
		if err != nil {
			return nil, err
		}
		return s.copyGroup(g), nil
	})
}

// Groups lists groups by id, newest first.
func (m *Model) Groups(_ context.Context, before rota.ID, limit int) ([]*rota.Group, error) {
	return read(m, func(s *state) ([]*rota.Group, error) {
		rows := newestBefore(s.groups, before, func(g *rota.Group) rota.ID { return g.ID })
		return copyPage(rows, limit, s.copyGroup), nil
	})
}

// Throttle returns the limits in force.
func (m *Model) Throttle(context.Context) (*rota.Throttle, error) {
	return read(m, func(s *state) (*rota.Throttle, error) { return copyThrottle(&s.throttle), nil })
}

// Reservations lists reservations by id, newest first.
func (m *Model) Reservations(_ context.Context, before rota.ID, limit int) ([]*rota.Reservation, error) {
	return read(m, func(s *state) ([]*rota.Reservation, error) {
		rows := newestBefore(s.reservations, before, func(r *rota.Reservation) rota.ID { return r.ID })
		return copyPage(rows, limit, copyOf), nil
	})
}

func found[T any](row *T, kind, name string) (*T, error) {
	if row == nil {
		return nil, rota.Errorf(rota.NotFound, kind, "there is no %s %s", kind, name)
	}
	return row, nil
}

// after returns the rows whose names sort after one, by name.
func after[T any](rows []*T, name string, nameOf func(*T) string) []*T {
	rest := slices.DeleteFunc(slices.Clone(rows), func(r *T) bool { return nameOf(r) <= name })
	slices.SortFunc(rest, func(a, b *T) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	return rest
}

// newestBefore returns the rows with ids before one, or all if it is zero, newest first.
func newestBefore[T any](rows []*T, before rota.ID, idOf func(*T) rota.ID) []*T {
	rest := slices.DeleteFunc(slices.Clone(rows), func(r *T) bool {
		return !before.IsZero() && idOf(r).Compare(before) >= 0
	})
	slices.SortFunc(rest, func(a, b *T) int { return idOf(b).Compare(idOf(a)) })
	return rest
}

// copyPage copies the first rows of a list.
func copyPage[T any](rows []*T, limit int, one func(*T) *T) []*T {
	return rowCopies(rows[:min(len(rows), atMost(limit))], one)
}
