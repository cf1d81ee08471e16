package model

import (
	"context"

	"github.com/rotajobs/rota"
)

func copyPrincipal(p *rota.Principal) *rota.Principal {
	c := copyOf(p)
	if c != nil {
		c.Spec = p.Spec.Canonical()
	}
	return c
}

// Principal returns a user or a role.
func (m *Model) Principal(_ context.Context, name string) (*rota.Principal, error) {
	return read(m, func(s *state) (*rota.Principal, error) {
		p, err := found(s.principal(name), "principal", name)
		return copyPrincipal(p), err
	})
}

// Principals lists users and roles by name.
func (m *Model) Principals(_ context.Context, q rota.NameQuery) ([]*rota.Principal, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return read(m, func(s *state) ([]*rota.Principal, error) {
		rows := after(s.principals, q.After, func(p *rota.Principal) string { return p.Name })
		return copyPage(rows, q.Limit, copyPrincipal), nil
	})
}

// AccessToken returns a token.
func (m *Model) AccessToken(_ context.Context, id string) (*rota.AccessToken, error) {
	return read(m, func(s *state) (*rota.AccessToken, error) {
		t, err := found(s.token(id), "token", id)
		return copyOf(t), err
	})
}

// AccessTokens lists tokens by id.
func (m *Model) AccessTokens(_ context.Context, q rota.TokenQuery) ([]*rota.AccessToken, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return read(m, func(s *state) ([]*rota.AccessToken, error) {
		var rows []*rota.AccessToken
		for _, t := range after(s.tokens, q.After, func(t *rota.AccessToken) string { return t.ID }) {
			if q.User == "" || t.User == q.User {
				rows = append(rows, t)
			}
		}
		return copyPage(rows, q.Limit, copyOf), nil
	})
}

// AccessState returns the version of all principals and tokens.
func (m *Model) AccessState(context.Context) (rota.AccessState, error) {
	return read(m, func(s *state) (rota.AccessState, error) { return s.access, nil })
}
