package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newRoleCommand(a *app) *cobra.Command {
	return newParentCommand("role", "List, create, grant, revoke and delete roles: privileges under one name",
		newRoleListCommand(a), newRoleShowCommand(a), newRoleCreateCommand(a), newRoleGrantCommand(a), newRoleRevokeCommand(a), newRoleDeleteCommand(a))
}

func newRoleListCommand(a *app) *cobra.Command {
	return listing[api.Role]{
		path: "/roles", none: "no roles; create one with rota role create",
		heads: []string{"NAME", "~MEMBERS", "~ROLES", "GRANTS", "CREATED"}, drop: []string{"CREATED", "ROLES", "GRANTS"},
		row: func(r api.Role) []string {
			return []string{r.Name, strings.Join(r.Members, ", "), roleNames(r.Roles), plural(len(r.Grants), "grant", "grants"), a.ago(r.CreatedAt.Time)}
		},
	}.command(a, &cobra.Command{Use: "list", Short: "List roles by name", Example: "  rota role list"})
}

func newRoleShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: "show ROLE", Short: "Show a role with its members and grants", Example: "  rota role show operators",
	}, "/roles", "", func(w io.Writer, r api.Role) {
		s := &keyValues{}
		s.add("name", r.Name)
		s.add("members", strings.Join(r.Members, ", "))
		addHeld(s, r.Roles, r.Grants)
		s.add("created", a.timestamp(r.CreatedAt.Time)+byActor(r.CreatedBy))
		s.add("changed", a.timestamp(r.UpdatedAt.Time))
		a.printKeyValues(w, s)
	})
}

func newRoleCreateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "create ROLE", Short: "Create a role", Args: requireArgs("a ROLE"), Example: "  rota role create operators",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := a.call(cmd.Context(), newPost("/roles", map[string]any{"name": args[0]}))
			if err != nil {
				return err
			}
			return a.printMessage(answer, "created role %s", args[0])
		},
	}
}

func newRoleGrantCommand(a *app) *cobra.Command {
	var to []string
	cmd := &cobra.Command{
		Use: "grant ROLE --to USER", Short: "Grant a role to users or other roles", Args: requireArgs("a ROLE"), DisableFlagsInUseLine: true,
		Example:           "  rota role grant operators --to bob\n  rota role grant operators --to ann,bob",
		ValidArgsFunction: a.completeNames("/roles", "name"),
	}
	granteesFlag(a, cmd, &to, "to", "`USER` or role that becomes a member (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.sendGrant(cmd, map[string]any{"role": args[0], "to": to}, "role "+args[0])
	}
	return cmd
}

func newRoleRevokeCommand(a *app) *cobra.Command {
	var from []string
	cmd := &cobra.Command{
		Use: "revoke ROLE --from USER", Short: "Revoke a role from users or other roles", Args: requireArgs("a ROLE"), DisableFlagsInUseLine: true,
		Example:           "  rota role revoke operators --from bob",
		ValidArgsFunction: a.completeNames("/roles", "name"),
	}
	granteesFlag(a, cmd, &from, "from", "`USER` or role that is a member no more (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.sendRevoke(cmd, url.Values{"role": {args[0]}}, from, "role "+args[0])
	}
	return cmd
}

func newRoleDeleteCommand(a *app) *cobra.Command {
	return deleteCommand(a, &cobra.Command{
		Use: "delete ROLE", Short: "Delete a role; its members lose what they have through it", Aliases: []string{"rm"}, Example: "  rota role delete operators",
	}, "/roles", "role")
}

// granteesFlag adds --to or --from.
func granteesFlag(a *app, cmd *cobra.Command, names *[]string, flag, usage string) {
	cmd.Flags().StringSliceVar(names, flag, nil, usage)
	refuseEmpty(cmd, flag)
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(a.names("/users", "name"), a.names("/roles", "name")...), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag is not declared: a bug in this program
	}
}

// needGrantees refuses a command without --to or --from.
func needGrantees(cmd *cobra.Command, flag string, names []string) error {
	if len(names) == 0 {
		return usagef("add it, such as --"+flag+" bob; rota user list and rota role list show the names", "%s needs --%s", commandName(cmd), flag)
	}
	return nil
}

// sendGrant grants what the body says; what names it in the message.
func (a *app) sendGrant(cmd *cobra.Command, body map[string]any, what string) error {
	to, _ := body["to"].([]string)
	if err := needGrantees(cmd, "to", to); err != nil {
		return err
	}
	changed, answer, err := fetch[api.GrantsChanged](cmd.Context(), a, newPost("/grants", body))
	if err != nil {
		return err
	}
	return a.printMessage(answer, "%s", grantMessage(changed, "granted %s to %s", "%[2]s already has %[1]s", what))
}

// sendRevoke revokes what the query says.
func (a *app) sendRevoke(cmd *cobra.Command, query url.Values, from []string, what string) error {
	if err := needGrantees(cmd, "from", from); err != nil {
		return err
	}
	query.Set("from", strings.Join(from, ","))
	changed, answer, err := fetch[api.GrantsChanged](cmd.Context(), a, apiclient.Request{Method: http.MethodDelete, Path: "/grants", Query: query})
	if err != nil {
		return err
	}
	err = a.printMessage(answer, "%s", grantMessage(changed, "revoked %s from %s", "%[2]s has no %[1]s of its own", what))
	if err == nil && a.output == formatTable && !changed.Changed && query.Get("privilege") != "" {
		a.hintElsewhere(cmd.Context(), query, from)
	}
	return err
}

func grantMessage(changed api.GrantsChanged, done, unchanged, what string) string {
	names := strings.Join(changed.To, ", ")
	if changed.Changed {
		return fmt.Sprintf(done, what, names)
	}
	return "nothing changed: " + fmt.Sprintf(unchanged, what, names)
}
