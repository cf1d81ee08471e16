package storekit

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The tables of users, roles and tokens.
var (
	// A principal that was dropped and created again is another row.
	Principals = newTable(Table[rota.Principal]{
		Name: "rota_principals", what: func(p *rota.Principal) string { return "principal " + p.Name },
		replaces: func(was, is *rota.Principal) bool {
			return was.Kind != is.Kind || was.CreatedBy != is.CreatedBy || !was.CreatedAt.Equal(is.CreatedAt)
		},
		columns: []Column[rota.Principal]{
			text("name", func(p *rota.Principal) *string { return &p.Name }).asKey(),
			text("kind", func(p *rota.Principal) *rota.PrincipalKind { return &p.Kind }).notNull().insertOnly(),
			id("version", func(p *rota.Principal) *rota.ID { return &p.Version }),
			text("created_by", func(p *rota.Principal) *string { return &p.CreatedBy }).insertOnly(),
			moment("created_at", func(p *rota.Principal) *time.Time { return &p.CreatedAt }).insertOnly(),
			moment("updated_at", func(p *rota.Principal) *time.Time { return &p.UpdatedAt }),
			document("spec", func(p *rota.Principal) any { return &p.Spec }),
			derived("certificate", func(p *rota.Principal) string { return p.Spec.Certificate }).
				onlyIf(func(p *rota.Principal) bool { return p.Spec.Certificate != "" }),
		},
	})

	AccessTokens = newTable(Table[rota.AccessToken]{
		Name: "rota_access_tokens",
		columns: []Column[rota.AccessToken]{
			text("id", func(t *rota.AccessToken) *string { return &t.ID }).asKey(),
			text("user_name", func(t *rota.AccessToken) *string { return &t.User }).notNull().insertOnly(),
			text("scope", func(t *rota.AccessToken) *rota.TokenScope { return &t.Scope }).notNull().insertOnly(),
			text("type", func(t *rota.AccessToken) *string { return &t.Type }).insertOnly(),
			text("job", func(t *rota.AccessToken) *string { return &t.Job }).insertOnly(),
			text("hash", func(t *rota.AccessToken) *string { return &t.Hash }).notNull().insertOnly(),
			text("verifier", func(t *rota.AccessToken) *string { return &t.Verifier }).insertOnly(),
			text("created_by", func(t *rota.AccessToken) *string { return &t.CreatedBy }).insertOnly(),
			moment("created_at", func(t *rota.AccessToken) *time.Time { return &t.CreatedAt }).insertOnly(),
			moment("expires_at", func(t *rota.AccessToken) *time.Time { return &t.ExpiresAt }).insertOnly(),
			moment("last_used_at", func(t *rota.AccessToken) *time.Time { return &t.LastUsedAt }),
			moment("revoked_at", func(t *rota.AccessToken) *time.Time { return &t.RevokedAt }),
			text("revoked_by", func(t *rota.AccessToken) *string { return &t.RevokedBy }),
		},
	})

	// AccessState has one row, or none.
	AccessState = newTable(Table[rota.AccessState]{
		Name: "rota_access_state", upserts: true,
		columns: []Column[rota.AccessState]{
			derivedNumber("id", func(*rota.AccessState) int { return 1 }).asKey(),
			id("version", func(s *rota.AccessState) *rota.ID { return &s.Version }),
			moment("newest", func(s *rota.AccessState) *time.Time { return &s.Newest }),
		},
	})
)

var (
	sqlRoles = Principals.Select() + `
WHERE kind = 'ROLE'
ORDER BY name`
	// The second condition lets the query use the indexes of owners.
	sqlOwnedDefinitions = `
SELECT 'template ' || name
FROM rota_templates
WHERE owner = $1 AND owner <> 'admin'
UNION ALL
SELECT 'schedule ' || name
FROM rota_schedules
WHERE owner = $1 AND owner <> 'admin'
LIMIT $2`
	sqlCertificateUser = `
SELECT name
FROM rota_principals
WHERE certificate = $1`
	sqlFreeCertificate = `
UPDATE rota_principals
SET certificate = NULL
WHERE name = $1`
	sqlLoginSecret = `
SELECT value
FROM rota_meta
WHERE key = 'login_secret'`
	sqlTokens = AccessTokens.Select() + `
WHERE id > $1
ORDER BY id
LIMIT $2`
	sqlTokensOf = AccessTokens.Select() + `
WHERE user_name = $3 AND id > $1
ORDER BY user_name, id
LIMIT $2`
)

// loadRoles returns the loader of all roles.
func loadRoles[T Tx]() rules.Loader[T] {
	return rules.LoadEach(rules.Roles, func(tx T, q rules.RolesQuery, u *rules.UnitOfWork) error {
		return tx.Read(sqlRoles, ScanInto(Principals, func(p *rota.Principal) {
			rules.Principals.Put(u, p)
			rules.Append(rules.Roles, u, q, p.Name)
		}))
	})
}

// principalChanges returns the statements of principals. Certificates that users lose become free first: one command may pass them on.
func principalChanges(all []rules.Change[string, rota.Principal]) (statements []Statement) {
	for _, c := range all {
		if c.Was != nil && c.Is != nil && c.Was.Spec.Certificate != "" && c.Was.Spec.Certificate != c.Is.Spec.Certificate {
			statements = append(statements, Statement{sqlFreeCertificate, []any{c.Key}})
		}
	}
	gone := func(_, is *rota.Principal) bool { return is == nil }
	kept := func(_, is *rota.Principal) bool { return is != nil }
	return append(append(statements, changes(Principals, all, gone)...), changes(Principals, all, kept)...)
}

// Principal returns a user or a role by its name.
func (s *Reader) Principal(ctx context.Context, name string) (*rota.Principal, error) {
	p, err := readNamed(ctx, s, Principals, "principal", name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, &rota.Error{
			Code: rota.NotFound, Act: "principal", Reason: "there is no user or role " + name,
			Hint: "rota user list and rota role list show the names",
		}
	}
	return p, err
}

// Principals lists users and roles by name.
func (s *Reader) Principals(ctx context.Context, q rota.NameQuery) ([]*rota.Principal, error) {
	return readNames(ctx, s, Principals, "principals", q, "")
}

// AccessToken returns a token by its id.
func (s *Reader) AccessToken(ctx context.Context, id string) (*rota.AccessToken, error) {
	return readNamed(ctx, s, AccessTokens, "token", id)
}

// AccessTokens lists tokens by id.
func (s *Reader) AccessTokens(ctx context.Context, q rota.TokenQuery) ([]*rota.AccessToken, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := PageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	if q.User != "" {
		return readAll(ctx, s, AccessTokens, "tokens", sqlTokensOf, q.After, limit, q.User)
	}
	return readAll(ctx, s, AccessTokens, "tokens", sqlTokens, q.After, limit)
}

// AccessState returns the version of all principals and tokens.
func (s *Reader) AccessState(ctx context.Context) (rota.AccessState, error) {
	state, err := readSingle(ctx, s, AccessState, "access state")
	if err != nil {
		return rota.AccessState{}, err
	}
	return *state, nil
}

// LoginSecret returns the random secret of the store.
func (s *Reader) LoginSecret(ctx context.Context) (secret string, err error) {
	err = s.on.Query(ctx, "login secret", sqlLoginSecret, func(r Row) error {
		secret = r.Text(0)
		return nil
	})
	return secret, err
}
