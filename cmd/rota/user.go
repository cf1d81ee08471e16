package main

import (
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newUserCommand(a *app) *cobra.Command {
	return newParentCommand("user", "List, create, change and delete users",
		newUserListCommand(a), newUserShowCommand(a), newUserCreateCommand(a), newUserPasswdCommand(a), newUserEditCommand(a), newUserDeleteCommand(a))
}

func newUserListCommand(a *app) *cobra.Command {
	return listing[api.User]{
		path: "/users", none: "no users besides " + rota.AdminUser + ", which is built in; create one with rota user create",
		heads: []string{"NAME", "ADMIN", "PASSWORD", "^?CERTIFICATE", "~ROLES", "GRANTS", "CREATED"}, drop: []string{"CREATED", "GRANTS", "ROLES"},
		row: func(u api.User) []string {
			return []string{u.Name, yesNo(u.Admin), yesNo(u.HasPassword), string(u.Certificate), roleNames(u.Roles), plural(len(u.Grants), "grant", "grants"), a.ago(u.CreatedAt.Time)}
		},
	}.command(a, &cobra.Command{
		Use: "list", Short: "List users by name", Example: "  rota user list",
		Long: "List users by name. The built-in user " + rota.AdminUser + " is not listed.",
	})
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func roleNames(roles []api.Membership) string {
	names := make([]string, len(roles))
	for i, m := range roles {
		names[i] = m.Role
	}
	return strings.Join(names, ", ")
}

func newUserShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: "show USER", Short: "Show a user with its roles and grants", Example: "  rota user show bob",
		Long: "Show a user with what was granted to it. rota grant list --user USER also lists what it has through roles.",
	}, "/users", "", a.writeUser)
}

func (a *app) writeUser(w io.Writer, u api.User) {
	s := &keyValues{}
	s.add("name", u.Name)
	s.add("admin", yesNo(u.Admin))
	s.add("password", map[bool]string{true: "set", false: "none"}[u.HasPassword])
	s.add("certificate", string(u.Certificate))
	addHeld(s, u.Roles, u.Grants)
	s.add("created", a.timestamp(u.CreatedAt.Time)+byActor(u.CreatedBy))
	s.add("changed", a.timestamp(u.UpdatedAt.Time))
	a.printKeyValues(w, s)
}

// addHeld adds the roles and privileges of a user or a role.
func addHeld(s *keyValues, roles []api.Membership, grants []api.UserGrant) {
	for _, m := range roles {
		s.add("role", m.Role+" (granted"+byActor(m.By)+")")
	}
	for _, g := range grants {
		s.add("grant", privilegeText(g.Privilege, string(g.Job))+" (granted"+byActor(g.By)+")")
	}
}

func newUserCreateCommand(a *app) *cobra.Command {
	certificate, without := "", false
	cmd := &cobra.Command{
		Use: "create USER", Short: "Create a user; reads the password from standard input", Args: requireArgs("a USER"),
		Long: `Create a user. The password has at least 12 characters. It is read from standard input; on a terminal the command asks for it
twice and does not show it. A user with --no-password logs in with tokens, or with a client certificate.`,
		Example: `  rota user create bob
  rota user create bob < password.txt
  rota user create ci --no-password
  rota user create web1 --no-password --certificate web1.example.com`,
	}
	cmd.Flags().BoolVar(&without, "no-password", false, "create a user that cannot log in with a password")
	certificateFlag(cmd, &certificate)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{"name": args[0]}
		if certificate != "" {
			body["certificate"] = certificate
		}
		if !without {
			password, err := a.newPassword(cmd.Context(), args[0], "rota user create "+args[0])
			if err != nil {
				return withHint(err, "add --no-password for a user that logs in with tokens or a certificate")
			}
			body["password"] = password
		}
		answer, err := a.call(cmd.Context(), newPost("/users", body))
		if err != nil {
			return err
		}
		return a.printMessage(answer, "created user %s; it has no privileges yet: rota grant PRIVILEGE --to %s", args[0], args[0])
	}
	return cmd
}

func certificateFlag(cmd *cobra.Command, certificate *string) {
	cmd.Flags().StringVar(certificate, "certificate", "", "common name `CN` of the client certificates that log in as this user")
	refuseEmpty(cmd, "certificate")
}

func newUserPasswdCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "passwd USER", Short: "Change the password of a user; reads it from standard input", Args: requireArgs("a USER"),
		Long: `Change the password of a user. It is read from standard input; on a terminal the command asks for it twice and does not show it.
Without ADMIN you can change your own password only. The command then asks for the current one first; on standard input it is the
first line, and the new one the second. Tokens of the user stay valid; rota token list --user USER shows them.`,
		Example:           "  rota user passwd bob\n  rota user passwd bob < password.txt",
		ValidArgsFunction: a.completeNames("/users", "name"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		me, _, err := fetch[api.Me](cmd.Context(), a, newGet("/me"))
		if err != nil {
			return err
		}
		body := map[string]any{}
		if me.User == args[0] && !me.Admin && me.Token != nil {
			body["current_password"], body["password"], err = a.changedPassword(cmd.Context(), args[0])
		} else {
			body["password"], err = a.newPassword(cmd.Context(), args[0], "rota user passwd "+args[0])
		}
		if err != nil {
			return err
		}
		return a.patch(cmd, "/users"+pathSegment(args[0]), body, nil, "changed the password of user "+args[0])
	}
	return cmd
}

func newUserEditCommand(a *app) *cobra.Command {
	certificate := ""
	var reset []string
	cmd := &cobra.Command{
		Use: "edit USER", Short: "Set the certificate of a user, or remove a credential", Args: requireArgs("a USER"),
		Long: "Set the certificate of a user. --reset removes a credential: password or certificate. rota user passwd sets the password.",
		Example: `  rota user edit web1 --certificate web1.example.com
  rota user edit ci --reset password`,
		ValidArgsFunction: a.completeNames("/users", "name"),
	}
	certificateFlag(cmd, &certificate)
	cmd.Flags().StringSliceVar(&reset, "reset", nil, "remove `FIELD`: password or certificate (repeatable)")
	completeFrom(cmd, "reset", []string{"password", "certificate"})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{}
		if certificate != "" {
			body["certificate"] = certificate
		}
		return a.patch(cmd, "/users"+pathSegment(args[0]), body, reset, "changed user "+args[0])
	}
	return cmd
}

func newUserDeleteCommand(a *app) *cobra.Command {
	return deleteCommand(a, &cobra.Command{
		Use: "delete USER", Short: "Delete a user; its tokens and grants end", Aliases: []string{"rm"}, Example: "  rota user delete bob",
		Long: `Delete a user. Its tokens and grants end with it, and stay without effect if a new user gets the name. A user that owns a
template or a schedule cannot be deleted; give it another owner first: ALTER JOB name OWNER TO user.`,
	}, "/users", "user")
}

// deleteCommand completes a command that deletes a user or a role.
func deleteCommand(a *app, cmd *cobra.Command, path, kind string) *cobra.Command {
	yes := false
	yesFlag(cmd, &yes)
	onObject(a, cmd, path)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.confirmDelete(yes, "Delete %s %s?", kind, args[0]); err != nil {
			return err
		}
		if _, err := a.call(cmd.Context(), apiclient.Request{Method: http.MethodDelete, Path: path + pathSegment(args[0])}); err != nil {
			return err
		}
		return a.printMessage(map[string]string{"deleted": args[0]}, "deleted %s %s", kind, args[0])
	}
	return cmd
}
