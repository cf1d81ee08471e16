package system

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// secrets is sys.secrets: names and times. No column has a value or a ciphertext.
var secrets = &table[*rota.Secret]{
	name: "secrets", key: func(s **rota.Secret) string { return (*s).Template + "/" + (*s).Key },
	columns: slices.Concat([]column[*rota.Secret]{
		{name: "template", kind: Text, value: func(s **rota.Secret) sqlite.Value { return notNullText((*s).Template) }, notNull: true},
		{name: "key", kind: Text, value: func(s **rota.Secret) sqlite.Value { return notNullText((*s).Key) }, notNull: true},
		{name: "created_by", kind: Text, value: func(s **rota.Secret) sqlite.Value { return text((*s).CreatedBy) }},
	},
		timeColumns("created_at", func(s **rota.Secret) time.Time { return (*s).CreatedAt }),
		timeColumns("updated_at", func(s **rota.Secret) time.Time { return (*s).UpdatedAt }),
	),
	paths: []accessPath[*rota.Secret]{
		{key: "template", order: []orderTerm{{column: "key"}}, rows: 10, read: func(q *query, w readRequest) pages[*rota.Secret] {
			template := w.equal["template"].Text()
			if template == "" { // the store would list the secrets of all templates
				return noRows[*rota.Secret]
			}
			return secretsOf(q, w, template)
		}},
		{order: []orderTerm{{column: "template"}, {column: "key"}}, rows: principalsEstimate, read: func(q *query, w readRequest) pages[*rota.Secret] { return secretsOf(q, w, "") }},
	},
}

// secretsOf lists the secrets of a template, or of all if it is empty.
func secretsOf(q *query, w readRequest, template string) pages[*rota.Secret] {
	return paged(q, w, func(v rota.View, limit int, last **rota.Secret) ([]*rota.Secret, error) {
		ask := rota.SecretQuery{Template: template, Limit: limit}
		if last != nil {
			ask.After = rota.SecretName{Template: (*last).Template, Key: (*last).Key}
		}
		return v.Secrets(q.ctx, ask)
	}, func(s *rota.Secret) *rota.Secret { return s })
}
