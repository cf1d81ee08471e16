package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// login is the URL that a run connects with, and the role that it then sets.
type login struct {
	target string
	url    string
	role   string
}

// authorize chooses the login of a run by the rights that its job runs with. A run as a role is in the audit before it
// begins, and a refusal is counted there.
func (r *runner) authorize(ctx context.Context, job *rota.Job, name string, target Target, runAs string) (login, error) {
	users := r.config.Access
	if users == nil { // nobody is restricted where nobody logs in
		return identify(name, target, runAs, &access.RunRights{User: job.CreatedBy, Admin: true})
	}
	rights, err := users.RunRights(ctx, job)
	if err != nil {
		return login{}, r.refused(job, rightsError(job, err))
	}
	auth, err := identify(name, target, runAs, rights)
	if err != nil || runAs == "" {
		return auth, r.refused(job, err)
	}
	if err := users.RecordRunAs(ctx, job, runAs); err != nil {
		return login{}, fmt.Errorf("target %s: the run as %.64q cannot be written to the audit: %w", name, runAs, err)
	}
	return auth, nil
}

// rightsError is permanent if the user does not exist. Rights that cannot be read now may be readable at the next attempt.
func rightsError(job *rota.Job, err error) error {
	if rota.CodeOf(err) == rota.Denied {
		return permanentFailure(codeDenied, "%w", err)
	}
	return fmt.Errorf("the rights of user %s cannot be read: %w", job.RunsFor(), err)
}

// refused counts the error of a run in the audit if the user lacks a right.
func (r *runner) refused(job *rota.Job, err error) error {
	var refusal *rota.Error
	if errors.As(err, &refusal) && refusal.Code == rota.Denied {
		r.config.Access.RunDenied(job, refusal)
	}
	return err
}

// identify chooses the login of a run: that of the role in run_as, else that of the user, else the target's own if the
// user may use it, else that of its only role with a login.
func identify(name string, target Target, runAs string, rights *access.RunRights) (login, error) {
	if runAs != "" {
		return identifyRole(name, target, runAs, rights)
	}
	if own, has := target.Roles[rights.User]; has {
		return login{target: name, url: own}, nil
	}
	if target.isOpenTo(rights) {
		return login{target: name, url: target.URL}, nil
	}
	var roles []string // roles of the user that have a login
	for _, role := range rights.Roles {
		if _, has := target.Roles[role]; has {
			roles = append(roles, role)
		}
	}
	switch len(roles) {
	case 1:
		return login{target: name, url: target.Roles[roles[0]]}, nil
	case 0:
		return login{}, denied(codeDenied, name, fmt.Sprintf("user %s may not use the login of the target", rights.User),
			"an administrator can change the configuration: "+target.remedy(rights.User))
	}
	return login{}, denied(codeDenied, name, fmt.Sprintf("user %s has several roles with a login: %s", rights.User, strings.Join(roles, ", ")),
		"choose one with RUN AS, or run_as in the params")
}

// identifyRole chooses the login of a run with run_as: that of the role, else on PostgreSQL the target's own, which then
// sets the role. A statement can reset that role, so the user must be allowed to use the target's own login.
func identifyRole(name string, target Target, role string, rights *access.RunRights) (login, error) {
	if !rights.IsMember(role) {
		return login{}, denied(codeRole, name, fmt.Sprintf("user %s is not a member of role %.64s, which the job runs as", rights.User, role),
			fmt.Sprintf("an administrator can change that: GRANT %.64s TO %s", role, rights.User))
	}
	if own, has := target.Roles[role]; has {
		return login{target: name, url: own}, nil
	}
	switch kind := dialectOf(target.URL); kind {
	case dialectPostgres:
	case dialectSQLite:
		return login{}, permanentFailure(codeRole, "target %s: run_as %.64q is refused: a SQLite file has no roles; leave run_as out", name, role)
	default:
		return login{}, permanentFailure(codeRole, "target %s: run_as %.64q is refused: on %s a role is a login of its own, and the target has none for it; "+
			"add it to roles of the target in the configuration", name, role, kind)
	}
	if !target.isOpenTo(rights) {
		return login{}, denied(codeDenied, name, fmt.Sprintf("role %.64s has no login, and user %s may not use the login of the target", role, rights.User),
			"an administrator can change the configuration: "+target.remedy(role))
	}
	return login{target: name, url: target.URL, role: role}, nil
}

// isOpenTo reports whether a job with these rights may use the target's own login.
func (t Target) isOpenTo(rights *access.RunRights) bool {
	return rights.Admin || slices.ContainsFunc(t.OpenTo, func(name string) bool {
		return name == rights.User || slices.Contains(rights.Roles, name)
	})
}

// remedy says how the configuration gives a user or role a login.
func (t Target) remedy(name string) string {
	open := "name the user, or one of its roles, in open_to of the target"
	if dialectOf(t.URL) == dialectSQLite {
		return open
	}
	return fmt.Sprintf("add a login for %.64s to roles of the target, or %s", name, open)
}

// denied is the permanent failure of a run whose user lacks a right.
func denied(code, target, reason, hint string) error {
	return permanentFailure(code, "%w", &rota.Error{Code: rota.Denied, Act: "target " + target, Reason: reason, Hint: hint})
}
