package api

import (
	"strings"

	"github.com/rotajobs/rota"
)

// User is a user, without its password.
type User struct {
	Name        string       `json:"name" doc:"Name of the user."`
	HasPassword bool         `json:"has_password" doc:"Whether the user can log in with a password."`
	Certificate Text         `json:"certificate" doc:"Common name of the client certificates that log in as this user."`
	Admin       bool         `json:"admin" doc:"Whether the user has ADMIN, itself or through a role."`
	Roles       []Membership `json:"roles" nullable:"false" doc:"Roles that were granted to the user."`
	Grants      []UserGrant  `json:"grants" nullable:"false" doc:"Privileges that were granted to the user itself."`
	Version     ID           `json:"version" nullable:"false" doc:"Changes with every change."`
	CreatedBy   Text         `json:"created_by" doc:"Actor that created it."`
	CreatedAt   Time         `json:"created_at" nullable:"false" doc:"Time of its creation."`
	UpdatedAt   Time         `json:"updated_at" nullable:"false" doc:"Time of its last change."`
}

// Role is a role: privileges under one name.
type Role struct {
	Name      string       `json:"name" doc:"Name of the role."`
	Members   []string     `json:"members" nullable:"false" doc:"Users and roles to which it was granted."`
	Roles     []Membership `json:"roles" nullable:"false" doc:"Roles that were granted to the role."`
	Grants    []UserGrant  `json:"grants" nullable:"false" doc:"Privileges that were granted to the role itself."`
	Version   ID           `json:"version" nullable:"false" doc:"Changes with every change, except of its members."`
	CreatedBy Text         `json:"created_by" doc:"Actor that created it."`
	CreatedAt Time         `json:"created_at" nullable:"false" doc:"Time of its creation."`
	UpdatedAt Time         `json:"updated_at" nullable:"false" doc:"Time of its last change."`
}

// Membership is a role that was granted to a user or a role.
type Membership struct {
	Role  string `json:"role" doc:"Name of the role."`
	Since Time   `json:"since" nullable:"false" doc:"When it was granted."`
	By    Text   `json:"by" doc:"Actor that granted it."`
}

// UserGrant is a privilege of a user or a role.
type UserGrant struct {
	Privilege string `json:"privilege" enum:"CREATE JOB,ALTER JOB,DROP JOB,EXECUTE JOB,VIEW JOB HISTORY,EXECUTE EXTERNAL JOB,ADMIN" doc:"The privilege."`
	Job       Text   `json:"job" doc:"Name of the template or schedule that it is for. Null: all."`
	Since     Time   `json:"since" nullable:"false" doc:"When it was granted."`
	By        Text   `json:"by" doc:"Actor that granted it."`
}

// NewUser converts a user. Its memberships and grants are those that have an effect.
func NewUser(p *rota.Principal, admin bool, roles []rota.RoleMembership, grants []rota.Grant) User {
	return User{
		Name: p.Name, HasPassword: p.Spec.Verifier != "", Certificate: Text(p.Spec.Certificate), Admin: admin, Roles: newMemberships(roles), Grants: newUserGrants(grants),
		Version: ID{p.Version}, CreatedBy: Text(p.CreatedBy), CreatedAt: Time{p.CreatedAt}, UpdatedAt: Time{p.UpdatedAt},
	}
}

// NewRole converts a role.
func NewRole(p *rota.Principal, members []string, roles []rota.RoleMembership, grants []rota.Grant) Role {
	return Role{
		Name: p.Name, Members: append([]string{}, members...), Roles: newMemberships(roles), Grants: newUserGrants(grants),
		Version: ID{p.Version}, CreatedBy: Text(p.CreatedBy), CreatedAt: Time{p.CreatedAt}, UpdatedAt: Time{p.UpdatedAt},
	}
}

func newMemberships(roles []rota.RoleMembership) []Membership {
	shown := make([]Membership, len(roles))
	for i, m := range roles {
		shown[i] = Membership{Role: m.Role, Since: Time{m.Since}, By: Text(m.By)}
	}
	return shown
}

func newUserGrants(grants []rota.Grant) []UserGrant {
	shown := make([]UserGrant, len(grants))
	for i, g := range grants {
		shown[i] = UserGrant{Privilege: string(g.Privilege), Job: Text(g.Job), Since: Time{g.Since}, By: Text(g.By)}
	}
	return shown
}

// UserRequest creates a user.
type UserRequest struct {
	Name        Opt[string] `json:"name,omitzero" doc:"Name: letters, digits and . _ - : / @ #. Users and roles share one set of names."`
	Password    Opt[string] `json:"password,omitzero" doc:"Password of at least 12 characters. Null or omitted: the user cannot log in with a password."`
	Certificate Opt[string] `json:"certificate,omitzero" doc:"Common name of the client certificates that log in as this user. Null or omitted: none."`
}

// UserChange changes the credentials of a user.
type UserChange struct {
	Password Opt[string] `json:"password,omitzero" doc:"New password of at least 12 characters. Null removes it."`
	// CurrentPassword proves who changes its own password.
	CurrentPassword string      `json:"current_password,omitempty" doc:"The password that the user has now. A user without ADMIN that changes its own password with a token sends it."`
	Certificate     Opt[string] `json:"certificate,omitzero" doc:"Common name of the client certificates that log in as this user. Null removes it."`
}

// RoleRequest creates a role.
type RoleRequest struct {
	Name string `json:"name" doc:"Name: letters, digits and . _ - : / @ #. Users and roles share one set of names."`
}

// Grant is a privilege or a role that a user or a role has.
type Grant struct {
	Grantee   string `json:"grantee" doc:"User or role to which it was granted."`
	Kind      string `json:"kind" enum:"USER,ROLE" doc:"Kind of the grantee."`
	Privilege Text   `json:"privilege" doc:"The privilege. Null: a role was granted."`
	Role      Text   `json:"role" doc:"The role. Null: a privilege was granted."`
	Job       Text   `json:"job" doc:"Name of the template or schedule that the privilege is for. Null: all."`
	Through   Text   `json:"through" doc:"In a list for one user: the role by which the user has it. Null: it was granted to the user itself."`
	Since     Time   `json:"since" nullable:"false" doc:"When it was granted."`
	By        Text   `json:"by" doc:"Actor that granted it."`
}

// NewGrants converts the memberships and grants of a principal, in the order of a list.
func NewGrants(p *rota.Principal, roles []rota.RoleMembership, grants []rota.Grant) (all []Grant) {
	for _, m := range roles {
		all = append(all, Grant{Grantee: p.Name, Kind: string(p.Kind), Role: Text(m.Role), Since: Time{m.Since}, By: Text(m.By)})
	}
	for _, g := range grants {
		all = append(all, Grant{Grantee: p.Name, Kind: string(p.Kind), Privilege: Text(g.Privilege), Job: Text(g.Job), Since: Time{g.Since}, By: Text(g.By)})
	}
	return all
}

// GrantRequest grants privileges or a role.
type GrantRequest struct {
	Privileges []string    `json:"privileges,omitempty" doc:"Privileges, such as EXECUTE JOB or execute_job."`
	Role       Opt[string] `json:"role,omitzero" doc:"Role to grant, instead of privileges."`
	Job        Opt[string] `json:"job,omitzero" doc:"Template or schedule that the privileges are for. Null or omitted: all."`
	To         []string    `json:"to" doc:"Users and roles to which it is granted, at most 100."`
}

// Command converts the request. The caller adds the metadata.
func (r *GrantRequest) Command() *rota.GrantPrivileges {
	c := &rota.GrantPrivileges{To: r.To, Privileges: ParsePrivileges(r.Privileges)}
	r.Role.SetValue(&c.Role)
	r.Job.SetValue(&c.Job)
	return c
}

// GrantsChanged answers a grant or a revocation.
type GrantsChanged struct {
	Changed bool     `json:"changed" doc:"False: everybody already had it, or nobody had it."`
	To      []string `json:"to" nullable:"false" doc:"Users and roles of the request."`
}

// ParsePrivileges converts privileges as people write them: in any letter case, with spaces, underscores or hyphens. It does
// not refuse unknown ones.
func ParsePrivileges(words []string) []rota.Privilege {
	privileges := make([]rota.Privilege, len(words))
	for i, word := range words {
		word = strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToUpper(word))
		privileges[i] = rota.Privilege(strings.Join(strings.Fields(word), " "))
	}
	return privileges
}
