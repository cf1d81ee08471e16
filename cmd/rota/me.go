package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
)

func newMeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "me", Short: "Show which user the server takes you for, and what it may do", Args: noArgs(), Aliases: []string{"whoami"},
		Long:    "Show the user and the token of your requests, its roles and privileges. The owner of a job also has all rights on it.",
		Example: "  rota me\n  ROTA_TOKEN=$(cat token.txt) rota me",
		RunE: func(cmd *cobra.Command, _ []string) error {
			me, answer, err := fetch[api.Me](cmd.Context(), a, newGet("/me"))
			if err != nil {
				return err
			}
			return a.print(answer, func(w io.Writer) { a.writeMe(w, me) })
		},
	}
}

func (a *app) writeMe(w io.Writer, me api.Me) {
	s := &keyValues{}
	s.add("user", me.User)
	s.add("admin", yesNo(me.Admin))
	if t := me.Token; t != nil {
		s.add("token", t.ID)
		s.add("scope", t.Scope)
		s.add("type", string(t.Type))
		s.add("job", string(t.Job))
		s.add("expires", orNever(a.timestamp(t.ExpiresAt.Time)))
	}
	s.add("roles", strings.Join(me.Roles, ", "))
	for _, p := range me.Privileges {
		text := privilegeText(p.Privilege, string(p.Job))
		if p.Through != "" {
			text += " (through " + string(p.Through) + ")"
		}
		s.add("privilege", text)
	}
	a.printKeyValues(w, s)
}
