package access

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Effects tells which memberships and grants have an effect, for displays. It reads each principal and each definition
// once, so one request may use it and a later one needs its own.
type Effects struct {
	from       rota.Reader
	principals map[string]*rota.Principal // nil: there is none
	defined    map[string][]time.Time     // since when the template and the schedule of a name exist
}

// NewEffects reads from a store, which may be that of one user: what the user may not see counts as absent.
func NewEffects(from rota.Reader) *Effects {
	return &Effects{from: from, principals: map[string]*rota.Principal{}, defined: map[string][]time.Time{}}
}

// Principal returns a user or a role, nil if there is none.
func (e *Effects) Principal(ctx context.Context, name string) (*rota.Principal, error) {
	if p, known := e.principals[name]; known {
		return p, nil
	}
	p, err := absentIsNil(e.from.Principal(ctx, name))
	if err == nil {
		e.principals[name] = p
	}
	return p, err
}

// Roles returns the memberships of a principal that have an effect.
func (e *Effects) Roles(ctx context.Context, p *rota.Principal) (roles []rota.RoleMembership, err error) {
	for _, m := range p.Spec.Roles {
		role, err := e.Principal(ctx, m.Role)
		if err != nil {
			return nil, err
		}
		if m.HasEffect(role) {
			roles = append(roles, m)
		}
	}
	return roles, nil
}

// Grants returns the grants of a principal that have an effect, without those of its roles.
func (e *Effects) Grants(ctx context.Context, p *rota.Principal) (grants []rota.Grant, err error) {
	for _, g := range p.Spec.Grants {
		has, err := e.hasEffect(ctx, g)
		if err != nil {
			return nil, err
		}
		if has {
			grants = append(grants, g)
		}
	}
	return grants, nil
}

// hasEffect reports whether a grant on one job is not older than the template or the schedule of that name.
func (e *Effects) hasEffect(ctx context.Context, g rota.Grant) (bool, error) {
	if g.Job == "" {
		return true, nil
	}
	since, known := e.defined[g.Job]
	if !known {
		t, err := absentIsNil(e.from.Template(ctx, g.Job))
		if err != nil {
			return false, err
		}
		s, err := absentIsNil(e.from.Schedule(ctx, g.Job))
		if err != nil {
			return false, err
		}
		if t != nil {
			since = append(since, t.Since)
		}
		if s != nil {
			since = append(since, s.Since)
		}
		e.defined[g.Job] = since
	}
	for _, at := range since {
		if !at.After(g.Since) {
			return true, nil
		}
	}
	return false, nil
}

// Reached calls visit for a principal and then for each role that it is a member of, directly or through other roles,
// each once.
func (e *Effects) Reached(ctx context.Context, p *rota.Principal, visit func(*rota.Principal) error) error {
	seen := map[string]bool{p.Name: true}
	for queue := []*rota.Principal{p}; len(queue) > 0; queue = queue[1:] {
		if err := visit(queue[0]); err != nil {
			return err
		}
		roles, err := e.Roles(ctx, queue[0])
		if err != nil {
			return err
		}
		for _, m := range roles {
			if !seen[m.Role] {
				seen[m.Role] = true
				queue = append(queue, e.principals[m.Role])
			}
		}
	}
	return nil
}

// IsAdmin reports whether a principal has ADMIN, itself or through a role.
func (e *Effects) IsAdmin(ctx context.Context, p *rota.Principal) (is bool, err error) {
	err = e.Reached(ctx, p, func(one *rota.Principal) error {
		for _, g := range one.Spec.Grants {
			is = is || g.Privilege == rota.Admin
		}
		return nil
	})
	return is, err
}

func absentIsNil[T any](row *T, err error) (*T, error) {
	if code := rota.CodeOf(err); code == rota.NotFound || code == rota.Invalid {
		return nil, nil
	}
	return row, err
}
