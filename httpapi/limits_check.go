package httpapi

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/suggest"
)

// checkLimits refuses limits of types that nobody declared, once: a name with a
// typo would limit nothing. Those that stand in the limits already may stay.
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

// unknownTypesError names each type that nobody declared, and the one that was
// probably meant.
func (c *call) unknownTypesError(unknown []string) error {
	if len(unknown) == 0 {
		return nil
	}
	declared, err := c.typeNames()
	if err != nil {
		return err
	}
	var errs []FieldError
	for _, name := range unknown[:min(len(unknown), errorsMax)] {
		reason := "nobody declared this type"
		if meant := suggest.Nearest(name, declared); meant != "" {
			reason += "; did you mean " + meant + "?"
		}
		errs = append(errs, FieldError{Field: joinPath("types", name), Reason: reason})
	}
	p := badFields(errs)
	p.Hint = "see that the name is right, or declare it with PUT /types/NAME"
	return p
}

// typeNames lists the first types by name, as many as a page may show.
func (c *call) typeNames() (names []string, err error) {
	const few = 100 // at a time, since each comes with its schema
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
