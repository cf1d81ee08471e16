package rota

import (
	"cmp"
	"strings"
	"time"
)

// PrincipalKind says whether a principal is a user or a role.
type PrincipalKind string

// The kinds. A user logs in and may own definitions; a role only passes its privileges on to its members.
const (
	KindUser PrincipalKind = "USER"
	KindRole PrincipalKind = "ROLE"
)

// AdminUser is the built-in user. It has every privilege and no row. Each node has a token file
// for it.
const AdminUser = "admin"

// Principal is a user or a role, with its credentials, memberships and grants.
type Principal struct {
	Name      string        `wire:"1"` // users and roles share one set of names
	Kind      PrincipalKind `wire:"2"`
	Spec      PrincipalSpec `wire:"3"`
	Version   ID            `wire:"4"` // id of the last command that changed it
	CreatedBy string        `wire:"5"`
	CreatedAt time.Time     `wire:"6"`
	UpdatedAt time.Time     `wire:"7"`
}

// PrincipalSpec is what is stored of a principal.
type PrincipalSpec struct {
	// Verifier is the SCRAM verifier of the password of a user; empty: the user cannot log in by password.
	Verifier string `wire:"1" json:"verifier,omitempty"`
	// Certificate is the common name of the client certificates that log in as this user; empty: none.
	Certificate string           `wire:"2" json:"certificate,omitempty"`
	Roles       []RoleMembership `wire:"3" json:"roles,omitempty"`  // sorted by role
	Grants      []Grant          `wire:"4" json:"grants,omitempty"` // sorted by job, then by privilege
	// PasswordAt is when the password was set or removed last; zero: never. Sessions that began earlier have ended.
	PasswordAt time.Time `wire:"5" json:"password_at,omitzero"`
}

// Canonical returns the specification as stored.
func (s PrincipalSpec) Canonical() PrincipalSpec { return canonical(s) }

// RoleMembership makes a principal a member of a role. It has no effect if the role was created later.
type RoleMembership struct {
	Role  string    `wire:"1" json:"role"`
	Since time.Time `wire:"2" json:"since"`
	By    string    `wire:"3" json:"by,omitempty"` // actor that granted it
}

// Grant gives a privilege. It has no effect on a definition that was created later.
type Grant struct {
	Privilege Privilege `wire:"1" json:"privilege"`
	Job       string    `wire:"2" json:"job,omitempty"` // name of a template or schedule; empty: all
	Since     time.Time `wire:"3" json:"since"`
	By        string    `wire:"4" json:"by,omitempty"` // actor that granted it
}

// AccessState identifies the state of all principals and tokens. Its version changes with each command that
// changes one of them.
type AccessState struct {
	Version ID
	// Newest is the newest time of a principal, token, membership or grant that ever existed. What is created later never has an
	// earlier time, even if the clock was set back: references to an earlier object of its name would have an effect on it.
	Newest time.Time
}

// ReservedPrincipal reports whether a name is reserved: those of Rota itself, of tokens on the SQL port, and words
// that mean something else in SQL.
func ReservedPrincipal(name string) bool {
	lower := strings.ToLower(name)
	switch lower {
	case AdminUser, SystemActor, "public", "none", "current_user", "current_role", "session_user":
		return true
	}
	return strings.HasPrefix(lower, TokenPrefix) || strings.HasPrefix(lower, "pg_")
}

// HasEffect reports whether the membership has an effect: its role exists and was not created later. role is the principal
// that has the name of the role now, nil if there is none.
func (m *RoleMembership) HasEffect(role *Principal) bool {
	return role != nil && role.Kind == KindRole && !role.CreatedAt.After(m.Since)
}

// Compare orders grants by job, then by privilege.
func (g Grant) Compare(other Grant) int {
	return cmp.Or(strings.Compare(g.Job, other.Job), strings.Compare(string(g.Privilege), string(other.Privilege)))
}
