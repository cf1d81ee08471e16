package access

import (
	"context"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

func (r *reader) Type(ctx context.Context, name string) (*rota.Type, error) {
	if err := r.allow("Type"); err != nil {
		return nil, err
	}
	return r.from.Type(ctx, name)
}

func (r *reader) Types(ctx context.Context, q rota.NameQuery) ([]*rota.Type, error) {
	if err := r.allow("Types"); err != nil {
		return nil, err
	}
	return r.from.Types(ctx, q)
}

func (r *reader) Template(ctx context.Context, name string) (*rota.Template, error) {
	t, err := r.visibleTemplate(ctx, name)
	return r.shownTemplate(t), err
}

// visibleTemplate returns a template if it is visible, with its webhooks.
func (r *reader) visibleTemplate(ctx context.Context, name string) (*rota.Template, error) {
	if err := r.allow("Template"); err != nil {
		return nil, err
	}
	t, err := r.from.Template(ctx, name)
	if err == nil && !r.seesObject(templateObject(t)) {
		return nil, notFound(kindTemplate, name)
	}
	return t, err
}

func (r *reader) Schedule(ctx context.Context, name string) (*rota.Schedule, error) {
	if err := r.allow("Schedule"); err != nil {
		return nil, err
	}
	s, err := r.from.Schedule(ctx, name)
	if err == nil && !r.seesObject(scheduleObject(s)) {
		return nil, notFound(kindSchedule, name)
	}
	return s, err
}

func (r *reader) Templates(ctx context.Context, q rota.NameQuery) ([]*rota.Template, error) {
	if err := r.allow("Templates"); err != nil {
		return nil, err
	}
	page, err := r.visibleTemplates(ctx, q)
	for i := range page {
		page[i] = r.shownTemplate(page[i])
	}
	return page, err
}

func (r *reader) visibleTemplates(ctx context.Context, q rota.NameQuery) ([]*rota.Template, error) {
	if r.seesAll() && r.reaches("") {
		return r.from.Templates(ctx, q)
	}
	return filtered(limitOf(q.Limit), func(limit int) ([]*rota.Template, error) {
		q.Limit = limit
		page, err := r.from.Templates(ctx, q)
		if len(page) > 0 {
			q.After = page[len(page)-1].Name
		}
		return page, err
	}, func(t *rota.Template) bool { return r.seesObject(templateObject(t)) })
}

func (r *reader) Schedules(ctx context.Context, q rota.ScheduleQuery) ([]*rota.Schedule, error) {
	if err := r.allow("Schedules"); err != nil {
		return nil, err
	}
	if r.seesAll() && r.reaches("") {
		return r.from.Schedules(ctx, q)
	}
	return filtered(limitOf(q.Limit), func(limit int) ([]*rota.Schedule, error) {
		q.Limit = limit
		page, err := r.from.Schedules(ctx, q)
		if n := len(page); n > 0 {
			q.After = page[n-1].Name
			if q.ByNext {
				q.NextAfter = page[n-1].NextFire
			}
		}
		return page, err
	}, func(s *rota.Schedule) bool { return r.seesObject(scheduleObject(s)) })
}

// filtered reads pages until enough rows are visible or there are no more.
func filtered[T any](limit int, next func(limit int) ([]T, error), visible func(T) bool) (all []T, err error) {
	size := limit
	for {
		page, err := next(size)
		if err != nil {
			return nil, err
		}
		for _, one := range page {
			if visible(one) {
				all = append(all, one)
			}
		}
		if len(all) >= limit || len(page) < size {
			return all[:min(len(all), limit)], nil
		}
		size = min(2*size, rota.PageMax)
	}
}

// Definition hides the names of definitions that are not visible, and of deleted ones.
func (r *reader) Definition(ctx context.Context, id rota.ID) (string, error) {
	if err := r.allow("Definition"); err != nil {
		return "", err
	}
	name, err := r.from.Definition(ctx, id)
	if err != nil || r.viewsAll() {
		return name, err
	}
	s, err := r.objects.get(ctx, kindSchedule, name)
	if err != nil || !r.seesObject(s) {
		return "", orNotFound(err, kindDefinition, id.String())
	}
	return name, nil
}

func (r *reader) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	if err := r.allow("Group"); err != nil {
		return nil, err
	}
	g, err := r.from.Group(ctx, id)
	if err == nil && !r.viewsAll() && !r.ownsGroup(g) {
		return nil, notFound(kindGroup, id.String())
	}
	return g, err
}

func (r *reader) Groups(ctx context.Context, before rota.ID, limit int) ([]*rota.Group, error) {
	if err := r.allow("Groups"); err != nil {
		return nil, err
	}
	if r.viewsAll() {
		return r.from.Groups(ctx, before, limit)
	}
	return filtered(limitOf(limit), func(limit int) ([]*rota.Group, error) {
		page, err := r.from.Groups(ctx, before, limit)
		if len(page) > 0 {
			before = page[len(page)-1].ID
		}
		return page, err
	}, r.ownsGroup)
}

func (r *reader) Reservations(ctx context.Context, before rota.ID, limit int) ([]*rota.Reservation, error) {
	if err := r.allow("Reservations"); err != nil {
		return nil, err
	}
	if r.viewsAll() {
		return r.from.Reservations(ctx, before, limit)
	}
	return filtered(limitOf(limit), func(limit int) ([]*rota.Reservation, error) {
		page, err := r.from.Reservations(ctx, before, limit)
		if len(page) > 0 {
			before = page[len(page)-1].ID
		}
		return page, err
	}, func(one *rota.Reservation) bool {
		return r.reaches("") && one.ReservedBy == r.user && !one.ReservedAt.Before(r.since)
	})
}

// overAll refuses a read about all jobs to an identity that may not see all of them.
func (r *reader) overAll(method string) error {
	if err := r.allow(method); err != nil {
		return err
	}
	p := readNeeds[method].privilege
	if r.onAll(p) && r.reaches("") {
		return nil
	}
	return r.missingOnAll(p)
}

func (r *reader) Stats(ctx context.Context) (*rota.Stats, error) {
	if err := r.overAll("Stats"); err != nil {
		return nil, err
	}
	return r.from.Stats(ctx)
}

func (r *reader) Throttle(ctx context.Context) (*rota.Throttle, error) {
	if err := r.overAll("Throttle"); err != nil {
		return nil, err
	}
	return r.from.Throttle(ctx)
}

func (r *reader) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	if err := r.overAll("Webhooks"); err != nil {
		return nil, err
	}
	return r.from.Webhooks(ctx)
}

// isSelf reports whether a principal is the user itself or one of its roles.
func (r *reader) isSelf(name string) bool { return name == r.user || slices.Contains(r.roles, name) }

func (r *reader) Principal(ctx context.Context, name string) (*rota.Principal, error) {
	if err := r.allow("Principal"); err != nil {
		return nil, err
	}
	if !r.seesEverything() && !r.isSelf(name) {
		return nil, notFound(kindPrincipal, name)
	}
	p, err := r.from.Principal(ctx, name)
	if err != nil {
		return nil, err
	}
	return withoutVerifier(p), nil
}

func (r *reader) Principals(ctx context.Context, q rota.NameQuery) (all []*rota.Principal, err error) {
	if err := r.allow("Principals"); err != nil {
		return nil, err
	}
	if r.seesEverything() {
		all, err = r.from.Principals(ctx, q)
		for i := range all {
			all[i] = withoutVerifier(all[i])
		}
		return all, err
	}
	names := append(slices.Clone(r.roles), r.user)
	slices.SortFunc(names, strings.Compare)
	for _, name := range names {
		if name <= q.After || len(all) == limitOf(q.Limit) {
			continue
		}
		p, err := r.from.Principal(ctx, name)
		if rota.CodeOf(err) == rota.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, withoutVerifier(p))
	}
	return all, nil
}

// ownsToken reports whether a token belongs to the user.
func (r *reader) ownsToken(t *rota.AccessToken) bool {
	return t.User == r.user && !t.CreatedAt.Before(r.since)
}

func (r *reader) AccessToken(ctx context.Context, id string) (*rota.AccessToken, error) {
	if err := r.allow("AccessToken"); err != nil {
		return nil, err
	}
	t, err := r.from.AccessToken(ctx, id)
	if err == nil && !r.seesEverything() && !r.ownsToken(t) {
		return nil, notFound(kindToken, id)
	}
	if err != nil {
		return nil, err
	}
	return withoutHash(t), nil
}

func (r *reader) AccessTokens(ctx context.Context, q rota.TokenQuery) ([]*rota.AccessToken, error) {
	if err := r.allow("AccessTokens"); err != nil {
		return nil, err
	}
	all, err := r.ownTokens(ctx, q)
	for i := range all {
		all[i] = withoutHash(all[i])
	}
	return all, err
}

func (r *reader) ownTokens(ctx context.Context, q rota.TokenQuery) ([]*rota.AccessToken, error) {
	if r.seesEverything() {
		return r.from.AccessTokens(ctx, q)
	}
	if q.User != "" && q.User != r.user {
		return nil, nil
	}
	q.User = r.user
	return filtered(limitOf(q.Limit), func(limit int) ([]*rota.AccessToken, error) {
		q.Limit = limit
		page, err := r.from.AccessTokens(ctx, q)
		if len(page) > 0 {
			q.After = page[len(page)-1].ID
		}
		return page, err
	}, r.ownsToken)
}

func (r *reader) AccessState(ctx context.Context) (rota.AccessState, error) {
	if err := r.allow("AccessState"); err != nil {
		return rota.AccessState{}, err
	}
	return r.from.AccessState(ctx)
}
