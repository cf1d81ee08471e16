package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// token is a row of sys.tokens. It never shows the hash or the verifier.
type token struct {
	*rota.AccessToken
	q *query
}

var tokens = &table[token]{
	name: "tokens", key: func(t *token) string { return t.ID },
	columns: append([]column[token]{
		{name: "id", kind: Text, value: func(t *token) sqlite.Value { return notNullText(t.ID) }, notNull: true},
		{name: "user_name", kind: Text, value: func(t *token) sqlite.Value { return notNullText(t.User) }, notNull: true},
		{name: "scope", kind: Text, value: func(t *token) sqlite.Value { return notNullText(string(t.Scope)) }, notNull: true},
		{name: "type", kind: Text, value: func(t *token) sqlite.Value { return text(t.Type) }},
		{name: "job", kind: Text, value: func(t *token) sqlite.Value { return text(t.Job) }},
		{name: "usable", kind: Boolean, value: func(t *token) sqlite.Value { return boolean(t.usable()) }, notNull: true},
		{name: "created_by", kind: Text, value: func(t *token) sqlite.Value { return text(t.CreatedBy) }},
		{name: "revoked_by", kind: Text, value: func(t *token) sqlite.Value { return text(t.RevokedBy) }},
	}, tokenTimes()...),
	paths: []accessPath[token]{
		{key: "id", rows: 1, read: func(q *query, w readRequest) pages[token] {
			id := w.equal["id"].Text()
			return singleRow(q, func(v rota.View) (*rota.AccessToken, error) { return v.AccessToken(q.ctx, id) }, tokenRow(q))
		}},
		{key: "user_name", order: []orderTerm{{column: "id"}}, rows: 10, read: func(q *query, w readRequest) pages[token] {
			user := w.equal["user_name"].Text()
			if user == "" { // the store would list the tokens of all users
				return noRows[token]
			}
			return tokensOf(q, w, user)
		}},
		{order: []orderTerm{{column: "id"}}, rows: principalsEstimate, read: func(q *query, w readRequest) pages[token] { return tokensOf(q, w, "") }},
	},
}

func tokenTimes() (columns []column[token]) {
	for _, pair := range [][]column[token]{
		timeColumns("created_at", func(t *token) time.Time { return t.CreatedAt }),
		timeColumns("expires_at", func(t *token) time.Time { return t.ExpiresAt }),
		timeColumns("last_used_at", func(t *token) time.Time { return t.LastUsedAt }),
		timeColumns("revoked_at", func(t *token) time.Time { return t.RevokedAt }),
	} {
		columns = append(columns, pair...)
	}
	return columns
}

func tokenRow(q *query) func(*rota.AccessToken) token {
	return func(t *rota.AccessToken) token { return token{t, q} }
}

// tokensOf lists the tokens of a user, or of all if it is empty.
func tokensOf(q *query, w readRequest, user string) pages[token] {
	return paged(q, w, func(v rota.View, limit int, last **rota.AccessToken) ([]*rota.AccessToken, error) {
		ask := rota.TokenQuery{User: user, Limit: limit}
		if last != nil {
			ask.After = (*last).ID
		}
		return v.AccessTokens(q.ctx, ask)
	}, tokenRow(q))
}

// usable reports whether the token logs in: it is neither expired nor revoked, and its user was not created after it.
func (t *token) usable() bool {
	view, err := t.q.store()
	if err == nil && !t.UsableAt(view.Now()) {
		return false
	}
	var user *rota.Principal
	if err == nil {
		user, err = t.q.principal(t.User)
	}
	if err != nil {
		_ = t.q.fail(err)
		return false
	}
	return user != nil && user.Kind == rota.KindUser && !user.CreatedAt.After(t.CreatedAt)
}
