package storekit

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The tables of secrets. Only ciphertext is stored.
var (
	Secrets = newTable(Table[rota.Secret]{
		Name: "rota_secrets",
		replaces: func(was, is *rota.Secret) bool { // deleted and set again in one transaction
			return was.CreatedBy != is.CreatedBy || !was.CreatedAt.Equal(is.CreatedAt) ||
				was.Version != is.Version && is.UpdatedAt.Equal(is.CreatedAt) // PostgreSQL has deleted the row of a recreated template
		},
		columns: []Column[rota.Secret]{
			text("template", func(s *rota.Secret) *string { return &s.Template }).asKey(),
			text("key", func(s *rota.Secret) *string { return &s.Key }).asKey(),
			text("sealed", func(s *rota.Secret) *string { return &s.Sealed }).notNull(),
			derived("fingerprint", (*rota.Secret).Fingerprint),
			id("version", func(s *rota.Secret) *rota.ID { return &s.Version }),
			text("created_by", func(s *rota.Secret) *string { return &s.CreatedBy }).insertOnly(),
			moment("created_at", func(s *rota.Secret) *time.Time { return &s.CreatedAt }).insertOnly(),
			moment("updated_at", func(s *rota.Secret) *time.Time { return &s.UpdatedAt }),
		},
	})

	// SecretKeys has one row, or none.
	SecretKeys = newTable(Table[rota.SecretState]{
		Name: "rota_secret_keys", upserts: true,
		columns: []Column[rota.SecretState]{
			derivedNumber("id", func(*rota.SecretState) int { return 1 }).asKey(),
			text("primary_key", func(s *rota.SecretState) *string { return &s.Primary }).notNull(),
		},
	})
)

var (
	sqlSecrets = Secrets.Select() + `
WHERE (template, key) > ($1, $2) AND fingerprint <> $4
ORDER BY template, key
LIMIT $3`
	sqlSecretsOf = Secrets.Select() + `
WHERE template = $1 AND key > $2 AND fingerprint <> $4
ORDER BY template, key
LIMIT $3`
	sqlNeededKeys = `
SELECT DISTINCT fingerprint
FROM rota_secrets
ORDER BY fingerprint`
	sqlTemplateSecrets = `
SELECT key
FROM rota_secrets
WHERE template = $1
ORDER BY template, key`
	// The names without a key are those of templates with sealed webhooks; the empty one is that of the global webhooks.
	sqlAnySecrets = `
SELECT template, key
FROM rota_secrets
UNION ALL
SELECT name, ''
FROM rota_templates
WHERE webhooks > 0 AND spec LIKE '%"sealed:v1:%'
UNION ALL
SELECT '', ''
FROM rota_webhooks
WHERE id = 1 AND spec LIKE '%"sealed:v1:%'
LIMIT $1`
	sqlGlobalWebhooks = `
SELECT spec
FROM rota_webhooks
WHERE id = 1`
	sqlTemplateWebhooks = `
SELECT name, spec
FROM rota_templates
WHERE webhooks > 0`
)

func loadTemplateSecrets[T Tx]() rules.Loader[T] {
	return search[T](rules.TemplateSecrets, func(q rules.TemplateSecretsQuery) (string, []any) { return sqlTemplateSecrets, []any{q.Template} },
		func(u *rules.UnitOfWork, q rules.TemplateSecretsQuery, r Row) {
			rules.Append(rules.TemplateSecrets, u, q, r.Text(0))
		})
}

func loadAnySecrets[T Tx]() rules.Loader[T] {
	return search[T](rules.AnySecrets, func(q rules.AnySecretsQuery) (string, []any) { return sqlAnySecrets, []any{q.Limit} },
		func(u *rules.UnitOfWork, q rules.AnySecretsQuery, r Row) {
			rules.Append(rules.AnySecrets, u, q, rota.SecretName{Template: r.Text(0), Key: r.Text(1)})
		})
}

// Secret returns a secret with its ciphertext.
func (s *Reader) Secret(ctx context.Context, name rota.SecretName) (*rota.Secret, error) {
	full := name.Template + "/" + name.Key
	if !utf8.ValidString(full) || strings.Contains(full, "\x00") { // PostgreSQL refuses such an argument
		return nil, notFound("secret", full)
	}
	found, err := readAll(ctx, s, Secrets, "secret", Secrets.ByKey(), KeyArgs(name)...)
	if err == nil && len(found) == 0 {
		err = notFound("secret", full)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Secrets lists secrets by template and key.
func (s *Reader) Secrets(ctx context.Context, q rota.SecretQuery) ([]*rota.Secret, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := PageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	if q.Template == "" {
		return readAll(ctx, s, Secrets, "secrets", sqlSecrets, q.After.Template, q.After.Key, limit, q.Fingerprint)
	}
	if q.After.Template > q.Template {
		return nil, nil
	}
	after := q.After.Key
	if q.After.Template < q.Template {
		after = ""
	}
	return readAll(ctx, s, Secrets, "secrets", sqlSecretsOf, q.Template, after, limit, q.Fingerprint)
}

// SecretState returns which keys open the secrets.
func (s *Reader) SecretState(ctx context.Context) (rota.SecretState, error) {
	state, err := readSingle(ctx, s, SecretKeys, "secret state")
	if err != nil {
		return rota.SecretState{}, err
	}
	err = s.on.Query(ctx, "secret state", sqlNeededKeys, func(r Row) error {
		state.Needed = append(state.Needed, r.Text(0))
		return nil
	})
	if err != nil {
		return rota.SecretState{}, err
	}
	hooks := NewHooks()
	if err := s.on.Query(ctx, "secret state", sqlGlobalWebhooks, hooks.AddAll); err != nil {
		return rota.SecretState{}, err
	}
	if err := s.on.Query(ctx, "secret state", sqlTemplateWebhooks, hooks.AddTemplate); err != nil {
		return rota.SecretState{}, err
	}
	hooks.addKeys(state)
	return *state, nil
}

// addKeys adds what seals the secrets of webhooks.
func (h *Hooks) addKeys(state *rota.SecretState) {
	lists := [][]rota.Webhook{h.read.All}
	for _, list := range h.read.ByTemplate {
		lists = append(lists, list)
	}
	for _, list := range lists {
		for i := range list {
			if fingerprint := list[i].Fingerprint(); fingerprint != "" {
				state.Needed = append(state.Needed, fingerprint)
			} else {
				state.Plain++
			}
		}
	}
	slices.Sort(state.Needed)
	state.Needed = slices.Compact(state.Needed)
}

var sqlVerifySecrets = Secrets.Select("fingerprint") + `
ORDER BY template, key`

func (in *Inspection) secrets() error {
	width := len(Secrets.read)
	return in.each(sqlVerifySecrets, func(r Row) {
		s, _ := Secrets.Scan(r) // it has no document
		in.Secret(s, r.Text(width))
	})
}

func (in *Inspection) secretKeys() error {
	var state *rota.SecretState
	err := in.each(SecretKeys.ByKey(), func(r Row) {
		state, _ = SecretKeys.Scan(r) // it has no document
	})
	if err == nil {
		in.SecretKeys(state)
	}
	return err
}
