package api

import (
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// The states of a token.
const (
	TokenActive      = "active"
	TokenExpired     = "expired"
	TokenRevoked     = "revoked"
	TokenUserDropped = "user_dropped"
)

// Token is an access token, without its secret.
type Token struct {
	ID         string `json:"id" doc:"Id: the part of the token between the underscores."`
	User       string `json:"user" doc:"User whose rights it has."`
	Scope      string `json:"scope" enum:"read,write,worker,session" doc:"What it may do at most. Session: it comes from a login with a password."`
	Type       Text   `json:"type" doc:"Of scope worker: the only type it may claim. Null: all."`
	Job        Text   `json:"job" doc:"The only template or schedule it may see and use. Null: all."`
	State      string `json:"state" enum:"active,expired,revoked,user_dropped" doc:"Whether it can be used. A token ends with its user: user_dropped stays, also if a new user gets the name."`
	CreatedBy  Text   `json:"created_by" doc:"Actor that created it."`
	CreatedAt  Time   `json:"created_at" nullable:"false" doc:"Time of its creation."`
	ExpiresAt  Time   `json:"expires_at" doc:"When it ends. Null: never."`
	LastUsedAt Time   `json:"last_used_at" doc:"When it was last used, within a minute. Null: never."`
	RevokedAt  Time   `json:"revoked_at" doc:"When it was revoked. Null: it was not."`
	RevokedBy  Text   `json:"revoked_by" doc:"Actor that revoked it."`
}

// NewToken converts a token. The user is that of its name now, nil if there is none.
func NewToken(t *rota.AccessToken, user *rota.Principal, now time.Time) Token {
	return Token{
		ID: t.ID, User: t.User, Scope: string(t.Scope), Type: Text(t.Type), Job: Text(t.Job), State: tokenState(t, user, now),
		CreatedBy: Text(t.CreatedBy), CreatedAt: Time{t.CreatedAt}, ExpiresAt: Time{t.ExpiresAt}, LastUsedAt: Time{t.LastUsedAt},
		RevokedAt: Time{t.RevokedAt}, RevokedBy: Text(t.RevokedBy),
	}
}

func tokenState(t *rota.AccessToken, user *rota.Principal, now time.Time) string {
	switch {
	case !t.RevokedAt.IsZero():
		return TokenRevoked
	case !t.UsableAt(now):
		return TokenExpired
	case t.User != rota.AdminUser && (user == nil || user.Kind != rota.KindUser || user.CreatedAt.After(t.CreatedAt)):
		return TokenUserDropped
	}
	return TokenActive
}

// TokenRequest creates a token.
type TokenRequest struct {
	User    Opt[string] `json:"user,omitzero" doc:"User whose rights it has. Null or omitted: the user of the request."`
	Scope   string      `json:"scope" enum:"read,write,worker" doc:"What it may do at most: read; write, which is all that its user may do; or worker, which is to claim, extend and finish jobs."`
	Type    Opt[string] `json:"type,omitzero" doc:"Of scope worker: the only type it may claim."`
	Job     Opt[string] `json:"job,omitzero" doc:"The only template or schedule it may see and use. Not with the scope worker."`
	Expires Opt[string] `json:"expires,omitzero" doc:"A duration such as 90d, a time in RFC 3339, or never; default 90d."`
}

// tokenLife is how long a token lives if its request does not say.
const tokenLife = 90 * 24 * time.Hour

// expiresNever is the expiry of a token that does not end.
const expiresNever = "never"

// ExpiresAt returns when the token ends, zero if never. The time is that of the request.
func (r *TokenRequest) ExpiresAt(now time.Time) (time.Time, error) {
	if r.Expires.Value == nil {
		return now.Add(tokenLife), nil
	}
	text := strings.TrimSpace(*r.Expires.Value)
	if strings.EqualFold(text, expiresNever) {
		return time.Time{}, nil
	}
	if at, err := ParseTime(text); err == nil {
		return at, nil
	}
	life, err := rota.ParseDuration(text)
	switch {
	case err != nil:
		return time.Time{}, rota.Invalidf("expires", "is neither a duration nor a time; write 90d, 2027-01-31T00:00:00Z or never")
	case life <= 0:
		return time.Time{}, rota.Invalidf("expires", "is %s; write a duration above zero, such as 90d", rota.FormatDuration(life))
	case life > rota.TokenMax:
		return time.Time{}, rota.Invalidf("expires", "is longer than ten years; write a shorter duration, or never")
	}
	return now.Add(life), nil
}

// TokenCreated is a new token. It is shown once: the server stores only a hash of it.
type TokenCreated struct {
	ID        string `json:"id" doc:"Id of the token."`
	Token     string `json:"token" doc:"The token, which is sent as Authorization: Bearer TOKEN."`
	User      string `json:"user" doc:"User whose rights it has."`
	Scope     string `json:"scope" enum:"read,write,worker" doc:"What it may do at most."`
	Type      Text   `json:"type" doc:"Of scope worker: the only type it may claim. Null: all."`
	Job       Text   `json:"job" doc:"The only template or schedule it may see and use. Null: all."`
	ExpiresAt Time   `json:"expires_at" doc:"When it ends. Null: never."`
}

// NewTokenCreated converts a token that was just created.
func NewTokenCreated(t *rota.AccessToken, token string) TokenCreated {
	return TokenCreated{
		ID: t.ID, Token: token, User: t.User, Scope: string(t.Scope), Type: Text(t.Type), Job: Text(t.Job), ExpiresAt: Time{t.ExpiresAt},
	}
}

// Me is who sent the request, and what it may do.
type Me struct {
	User       string        `json:"user" doc:"User of the request."`
	Admin      bool          `json:"admin" doc:"Whether the user has ADMIN. The scope of the token still applies."`
	Token      *MeToken      `json:"token" doc:"Token of the request. Null: the user logged in otherwise, or with the admin token of a node."`
	Roles      []string      `json:"roles" nullable:"false" doc:"Roles of the user, also those that it has through other roles."`
	Privileges []MyPrivilege `json:"privileges" nullable:"false" doc:"Privileges of the user, also those of its roles. The owner of a job also has all rights on it."`
}

// MeToken is the token of a request.
type MeToken struct {
	ID        string `json:"id" doc:"Id of the token."`
	Scope     string `json:"scope" enum:"read,write,worker,session" doc:"What it may do at most. Session: it comes from a login with a password."`
	Type      Text   `json:"type" doc:"Of scope worker: the only type it may claim. Null: all."`
	Job       Text   `json:"job" doc:"The only template or schedule it may see and use. Null: all."`
	ExpiresAt Time   `json:"expires_at" doc:"When it ends. Null: never."`
}

// NewMeToken converts the token of a request.
func NewMeToken(t *rota.AccessToken) *MeToken {
	return &MeToken{ID: t.ID, Scope: string(t.Scope), Type: Text(t.Type), Job: Text(t.Job), ExpiresAt: Time{t.ExpiresAt}}
}

// MyPrivilege is a privilege of the user of a request.
type MyPrivilege struct {
	Privilege string `json:"privilege" enum:"CREATE JOB,ALTER JOB,DROP JOB,EXECUTE JOB,VIEW JOB HISTORY,EXECUTE EXTERNAL JOB,ADMIN" doc:"The privilege."`
	Job       Text   `json:"job" doc:"Name of the template or schedule that it is for. Null: all."`
	Through   Text   `json:"through" doc:"Role by which the user has it. Null: it was granted to the user itself."`
}

// LoginRequest logs in with a password, or checks a token.
type LoginRequest struct {
	User     string `json:"user,omitempty" doc:"Name of the user."`
	Password string `json:"password,omitempty" doc:"Password of the user."`
	Token    string `json:"token,omitempty" doc:"A token, instead of user and password."`
}

// Login answers a login.
type Login struct {
	Token     string `json:"token" doc:"Token for further requests. After a login with a password it is new."`
	User      string `json:"user" doc:"User of the token."`
	ExpiresAt Time   `json:"expires_at" doc:"When the token ends. Null: never."`
}
