package access

import (
	"errors"
	"time"

	"github.com/rotajobs/rota"
)

// Identity is the origin of a request: a user, and the token it has sent. It holds no rights, which may change while the
// identity is in use.
type Identity struct {
	User  string
	Token string // id of the token; empty: the user logged in by password, by certificate or with the admin token of a node
	// UserSince is when the user was created; zero for the built-in admin. A user that was dropped and created again is
	// another user.
	UserSince time.Time
}

// Admin is the identity of the built-in admin.
func Admin() Identity { return Identity{User: rota.AdminUser} }

// errEnded says that an identity is not valid any more, which ends sessions and streams.
func errEnded(reason, hint string) *rota.Error {
	return &rota.Error{Code: rota.Denied, Act: actLogin, Reason: reason, Hint: hint}
}

// actLogin is the act of errors about the identity itself.
const actLogin = "login"

// Ended reports whether an error says that the identity of a request is not valid any more: its user was dropped, or its
// token was revoked or has expired. The request then needs a new login, not a privilege.
func Ended(err error) bool {
	var e *rota.Error
	return errors.As(err, &e) && e.Code == rota.Denied && e.Act == actLogin
}
