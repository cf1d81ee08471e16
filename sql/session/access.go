package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/ddl"
)

// security plans a statement about users, roles and privileges. The store of the session decides whether its user may
// run it.
func (p *planner) security(q *ddl.Security) (*plan, error) {
	switch q.Kind {
	case ddl.CreateUser:
		return p.putPrincipal(q, rota.KindUser, rota.PutCreate)
	case ddl.CreateRole:
		return p.putPrincipal(q, rota.KindRole, rota.PutCreate)
	case ddl.AlterUser, ddl.AlterRole: // clients change passwords with either, and only a user has one
		return p.putPrincipal(q, rota.KindUser, rota.PutReplace)
	case ddl.DropUser:
		return p.dropPrincipal(q, rota.KindUser)
	case ddl.DropRole:
		return p.dropPrincipal(q, rota.KindRole)
	}
	return p.grant(q)
}

// kindWord is the kind of a principal in a message.
func kindWord(kind rota.PrincipalKind) string { return strings.ToLower(string(kind)) }

func (p *planner) putPrincipal(q *ddl.Security, kind rota.PrincipalKind, mode rota.PutMode) (*plan, error) {
	if mode == rota.PutReplace && q.Name == rota.AdminUser {
		return nil, newError(StateNotSupported, "to replace it, delete the file and restart the node; for other users use CREATE USER",
			"the password of admin is the token in the file admin.token of each node").at(ddl.PlaceName)
	}
	if q.IfNotExists || q.IfExists {
		found, err := p.principal(q.Name)
		switch {
		case err != nil:
			return nil, err
		case found != nil && q.IfNotExists && found.Kind == kind && !p.resent:
			return fixedPlan(tagAnswer(q.Tag()).notice("there is a %s %s already, skipping", kindWord(kind), q.Name)), nil
		case found == nil && q.IfExists:
			return fixedPlan(tagAnswer(q.Tag()).notice("there is no %s %s, skipping", kindWord(kind), q.Name)), nil
		}
	}
	c := &rota.PutPrincipal{Meta: p.newMeta(), Name: q.Name, Kind: kind, Mode: mode, Certificate: q.Certificate}
	if q.Password != nil {
		verifier, err := verifierOf(*q.Password)
		if err != nil {
			return nil, err
		}
		c.Verifier = &verifier
	}
	plan := fixedPlan(tagAnswer(q.Tag()), c)
	plan.reword = func(err error) error { return principalError(err, kind, q.Name) }
	return plan, nil
}

// verifierOf returns what is stored of a password. A verifier is stored as it is, as in PostgreSQL: psql's \password sends
// one. NULL, which is empty, stays empty. Errors do not contain the password.
func verifierOf(password string) (string, error) {
	switch {
	case password == "":
		return "", nil
	case strings.HasPrefix(password, "SCRAM-SHA-256$"):
		if _, err := access.ParseVerifier(password); err != nil {
			return "", newError(StateBadValue, "write the password itself, or SCRAM-SHA-256$4096:salt$stored:server", "the password is not a valid SCRAM verifier").at("PASSWORD")
		}
		return password, nil
	case isMD5(password):
		return "", newError(StateNotSupported, "write the password itself, or a SCRAM-SHA-256 verifier", "MD5 verifiers are not supported").at("PASSWORD")
	}
	var e *rota.Error
	if err := access.CheckPassword(password); errors.As(err, &e) {
		reason, hint, _ := strings.Cut(e.Reason, "; ")
		return "", newError(StateBadValue, cmp.Or(e.Hint, hint), "the password %s", reason).at("PASSWORD")
	}
	return access.NewVerifier(password).String(), nil
}

// isMD5 reports whether a text is an MD5 verifier of PostgreSQL.
func isMD5(text string) bool {
	digits, is := strings.CutPrefix(text, "md5")
	return is && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

func (p *planner) dropPrincipal(q *ddl.Security, kind rota.PrincipalKind) (*plan, error) {
	if q.Name == rota.AdminUser {
		return nil, newError(StateWrongState, "", "admin is built in and cannot be dropped").at(ddl.PlaceName)
	}
	if q.IfExists && !p.resent {
		found, err := p.principal(q.Name)
		switch {
		case err != nil:
			return nil, err
		case found == nil || found.Kind != kind:
			return fixedPlan(tagAnswer(q.Tag()).notice("there is no %s %s, skipping", kindWord(kind), q.Name)), nil
		}
	}
	plan := fixedPlan(tagAnswer(q.Tag()), &rota.DropPrincipal{Meta: p.newMeta(), Name: q.Name, Kind: kind})
	plan.reword = func(err error) error {
		var e *rota.Error
		if errors.As(err, &e) && e.Code == rota.Conflict {
			return &Error{State: StateDependent, Message: e.Reason, Hint: cmp.Or(e.Hint, "give what it owns to another user with ALTER JOB … OWNER TO"), Err: err, place: ddl.PlaceName}
		}
		return principalError(err, kind, q.Name)
	}
	return plan, nil
}

// principal is the user or role of a name, nil if there is none.
func (p *planner) principal(name string) (*rota.Principal, error) {
	if found, known := p.changes.principals[name]; known {
		return found, nil
	}
	found, err := orNil(p.store.Principal(p.ctx, name))
	if rota.CodeOf(err) == rota.Invalid { // nobody can have this name
		return nil, nil
	}
	return found, err
}

// isRole reports whether there is a role of a name.
func (p *planner) isRole(name string) bool {
	found, err := p.principal(name)
	return err == nil && found != nil && found.Kind == rota.KindRole
}

// principalError words an error about one user or role.
func principalError(err error, kind rota.PrincipalKind, name string) error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return err
	}
	switch field := fieldOf(e); {
	case e.Code == rota.NotFound && field == "name":
		return noPrincipal(kindWord(kind), name, err).at(ddl.PlaceName)
	case e.Code == rota.Conflict && field == "name":
		return &Error{State: StateDuplicate, Message: e.Reason, Hint: "choose another name, or use IF NOT EXISTS", Err: err, place: ddl.PlaceName}
	case e.Code == rota.Conflict && field == "kind": // such as a password for a role
		return &Error{State: StateUnknown, Message: e.Reason, Hint: "a role cannot log in", Err: err, place: ddl.PlaceName}
	case e.Code == rota.Conflict && field == "certificate":
		return &Error{State: StateDuplicate, Message: e.Reason, Hint: e.Hint, Err: err, place: "CERTIFICATE"}
	}
	return err
}

// fieldOf is the field of an error, without the member of a rota.All.
func fieldOf(e *rota.Error) string { return memberPrefix.ReplaceAllString(e.Field, "") }

func noPrincipal(kind, name string, err error) *Error {
	missing := newError(StateUnknown, "check the name; SHOW USERS and SHOW ROLES list the names", "there is no %s %s", kind, name)
	missing.Err = err
	return missing
}

func (p *planner) grant(q *ddl.Security) (*plan, error) {
	c := &rota.GrantPrivileges{Meta: p.newMeta(), To: q.To, Job: q.Job, Role: q.Role, Revoke: q.Kind == ddl.Revoke}
	for _, one := range q.Privileges {
		privilege := rota.Privilege(one)
		if q.Job != "" && !privilege.OnJob() {
			return nil, newError(StateBadValue, "leave out ON JOB", "%s cannot be granted on one job", one).at(ddl.PrivilegePlace(one))
		}
		c.Privileges = append(c.Privileges, privilege)
	}
	if q.All {
		c.Privileges = allPrivileges(q)
	}
	plan := fixedPlan(tagAnswer(q.Tag()), c)
	plan.reword = func(err error) error { return grantError(err, q) }
	return plan, nil
}

// allPrivileges is what ALL PRIVILEGES means: on one job those that can be granted on one; on all jobs GRANT
// omits ADMIN, which has to be granted by name, and REVOKE includes it.
func allPrivileges(q *ddl.Security) []rota.Privilege {
	return slices.DeleteFunc(slices.Clone(rota.Privileges), func(one rota.Privilege) bool {
		return q.Job != "" && !one.OnJob() || q.Kind == ddl.Grant && one == rota.Admin
	})
}

// grantError words an error of GRANT and REVOKE.
func grantError(err error, q *ddl.Security) error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return err
	}
	field := fieldOf(e)
	missing := e.Code == rota.NotFound
	for i, name := range q.To {
		if field != fmt.Sprintf("to[%d]", i) {
			continue
		}
		if missing && name == rota.AdminUser {
			return &Error{State: StateBadValue, Message: "admin is built in and has every privilege", Hint: "name another user", Err: err, place: ddl.GranteePlace(name)}
		}
		if missing {
			return noPrincipal("user or role", name, err).at(ddl.GranteePlace(name))
		}
		return &Error{State: sqlStates[e.Code], Message: e.Reason, Hint: e.Hint, Err: err, place: ddl.GranteePlace(name)}
	}
	switch {
	case missing && field == "role":
		return noPrincipal("role", q.Role, err).at(ddl.PlaceRole)
	case missing && field == "job":
		return &Error{State: StateUnknown, Message: "there is no job " + q.Job, Hint: "check the name; SHOW JOBS lists the jobs", Err: err, place: ddl.PlaceOnJob}
	case field == "role": // a cycle
		return &Error{State: sqlStates[e.Code], Message: "role " + q.Role + " " + e.Reason, Hint: e.Hint, Err: err, place: ddl.PlaceRole}
	}
	return err
}

// alterOwner plans ALTER JOB … OWNER TO.
func (p *planner) alterOwner(q *ddl.AlterOwner) (*plan, error) {
	if q.IfExists {
		s, err := p.schedule(q.Name)
		switch {
		case err != nil:
			return nil, err
		case s == nil:
			return fixedPlan(tagAnswer(q.Tag()).notice("there is no job %s, skipping", q.Name)), nil
		}
	}
	meta := p.newMeta()
	owner := cmp.Or(q.Owner, meta.Actor)
	plan := fixedPlan(tagAnswer(q.Tag()), &rota.SetOwner{Meta: meta, Name: q.Name, Owner: owner})
	plan.reword = func(err error) error {
		var e *rota.Error
		switch {
		case !errors.As(err, &e) || e.Code != rota.NotFound:
			return err
		case fieldOf(e) == "owner" && p.isRole(owner):
			return newError(StateBadValue, "name a user; SHOW USERS lists them", "a role cannot own a job, and %s is a role", owner).at(ddl.PlaceOwner)
		case fieldOf(e) == "owner":
			return noPrincipal("user", owner, err).at(ddl.PlaceOwner)
		}
		return noJob(q.Name)
	}
	return plan, nil
}
