package rota

import "time"

// TokenPrefix begins every token, and the name under which a token logs in on the SQL port.
const TokenPrefix = "rota_"

// TokenScope bounds what a token may do, whatever its user may do.
type TokenScope string

// The scopes.
const (
	ScopeRead   TokenScope = "read"   // reads only
	ScopeWrite  TokenScope = "write"  // everything that its user may do; without ADMIN it creates no tokens and changes no password
	ScopeWorker TokenScope = "worker" // claim, extend, finish, and nothing else
	// ScopeSession is that of a login with a password: everything that its user may do. Nobody else can create such a
	// token.
	ScopeSession TokenScope = "session"
)

// TokenScopes lists every scope.
var TokenScopes = []TokenScope{ScopeRead, ScopeWrite, ScopeWorker, ScopeSession}

// AccessToken is a token of a user. The token itself, rota_ID_SECRET, is shown once and not stored.
type AccessToken struct {
	ID         string     `wire:"1"` // letters and digits; it is part of the token
	User       string     `wire:"2"` // the token has no effect if the user was created later
	Scope      TokenScope `wire:"3"`
	Type       string     `wire:"4"` // of scope worker: the only type it may claim; empty: all
	Job        string     `wire:"5"` // the only definition it may see and use; empty: all
	Hash       string     `wire:"6"` // SHA-256 of the whole token: 64 lower-case hexadecimal digits
	Verifier   string     `wire:"7"` // SCRAM verifier of the whole token, for the SQL port
	CreatedBy  string     `wire:"8"`
	CreatedAt  time.Time  `wire:"9"`
	ExpiresAt  time.Time  `wire:"10"` // zero: never
	LastUsedAt time.Time  `wire:"11"` // within a minute; zero: never
	RevokedAt  time.Time  `wire:"12"` // zero: not revoked
	RevokedBy  string     `wire:"13"`
}

// UsableAt reports whether the token is neither expired nor revoked.
func (t *AccessToken) UsableAt(now time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// EndedAt returns when the token was revoked, else when it expires; zero: never.
func (t *AccessToken) EndedAt() time.Time {
	if !t.RevokedAt.IsZero() {
		return t.RevokedAt
	}
	return t.ExpiresAt
}

// TokenQuery selects tokens by id. A zero field selects all.
type TokenQuery struct {
	After string // lists ids that sort after this one
	User  string
	Limit int // at most PageMax; 0 means 100
}

// Validate checks the query.
func (q *TokenQuery) Validate() error {
	return asError(first(checkUTF8("after", q.After), checkName("user", q.User, false), checkInt("limit", q.Limit, 0, PageMax)))
}
