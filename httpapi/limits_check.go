package httpapi

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/suggest"
)

// checkLimits refuses limits of undeclared types: a limit with a misspelled name would have no effect.
// Types that already have a limit are accepted.
func (c *call) checkLimits(limits []rota.TypeLimit) error {
	if c.replay || len(limits) == 0 {
		return nil
	}
	stored, err := c.Store.Throttle(c.ctx)
	if err != nil {
		return err
	}
	var unknown []string
	for _, limit := range limits {
		if slices.ContainsFunc(stored.Spec.Types, func(l rota.TypeLimit) bool { return l.Type == limit.Type }) {
			continue
		}
		_, err := c.Store.Type(c.ctx, limit.Type)
		switch {
		case rota.CodeOf(err) == rota.NotFound:
			unknown = append(unknown, limit.Type)
		case err != nil:
			return err
		}
	}
	return c.unknownTypesError(unknown)
}

// unknownTypesError names each undeclared type, with a suggestion.
func (c *call) unknownTypesError(unknown []string) error {
	if len(unknown) == 0 {
		return nil
	}
	declared, err := c.typeNames()
	if err != nil {
		return err
	}
	var errs []api.FieldError
	for _, name := range unknown[:min(len(unknown), errorsMax)] {
		reason := "this type is not declared"
		if meant := suggest.Nearest(name, declared); meant != "" {
			reason += "; did you mean " + meant + "?"
		}
		errs = append(errs, api.FieldError{Field: api.FieldPath("types", name), Reason: reason})
	}
	p := badFields(errs)
	p.Hint = "check the name, or declare it with PUT /types/NAME"
	return p
}

// typeNames lists the first types by name, up to one page.
func (c *call) typeNames() (names []string, err error) {
	const few = 100 // per read, since each row contains its schema
	for after := ""; len(names) < rota.PageMax; after = names[len(names)-1] {
		types, err := c.Store.Types(c.ctx, rota.NameQuery{After: after, Limit: few})
		if err != nil {
			return nil, err
		}
		for _, t := range types {
			names = append(names, t.Name)
		}
		if len(types) < few {
			break
		}
	}
	return names, nil
}
