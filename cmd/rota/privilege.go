package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// privilegeArgs reads privileges: words that are separated by commas or only by spaces, so that a shell needs no quotes.
func (a *app) privilegeArgs(cmd *cobra.Command, args []string) (privileges []string, err error) {
	for part := range strings.SplitSeq(strings.Join(args, " "), ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		found, unknown := splitPrivileges(part)
		if unknown != "" {
			return nil, a.noPrivilege(cmd, unknown)
		}
		privileges = append(privileges, found...)
	}
	if len(privileges) == 0 {
		return nil, usagef("write one, such as "+cmd.CommandPath()+" EXECUTE_JOB; see "+cmd.CommandPath()+" --help", "%s needs a PRIVILEGE", commandName(cmd))
	}
	return privileges, nil
}

// splitPrivileges cuts a text without commas into privileges. No privilege is the beginning of another one, so that there is
// only one way. The rest is returned as the user wrote it, if it does not begin with a privilege.
func splitPrivileges(text string) (privileges []string, rest string) {
	fields := strings.Fields(text)
	for len(fields) > 0 {
		n := 1
		for n <= len(fields) && !isPrivilege(fields[:n]) {
			n++
		}
		if n > len(fields) {
			return nil, strings.Join(fields, " ")
		}
		privileges = append(privileges, string(privilegeOf(fields[:n])))
		fields = fields[n:]
	}
	return privileges, ""
}

func privilegeOf(words []string) rota.Privilege {
	return api.ParsePrivileges([]string{strings.Join(words, " ")})[0]
}

func isPrivilege(words []string) bool { return slices.Contains(rota.Privileges, privilegeOf(words)) }

// noPrivilege refuses a text that is not a privilege. It may be a role, for which there is another command, or have a typo.
func (a *app) noPrivilege(cmd *cobra.Command, text string) error {
	hint := "use " + strings.Join(privilegeWords(), ", ")
	if a.isRole(cmd.Context(), text) {
		hint = text + " is a role: rota role " + cmd.Name() + " " + text
		for _, flag := range []string{"to", "from"} {
			if names, err := cmd.Flags().GetStringSlice(flag); err == nil && len(names) > 0 {
				hint += " --" + flag + " " + shortened(strings.Join(names, ","))
			}
		}
	} else if near := nearestOf(privilegeWords(), strings.ReplaceAll(text, " ", "_")); near != "" {
		hint = "did you mean " + near + "? see " + cmd.CommandPath() + " --help"
	}
	return usagef(hint, "there is no privilege %s", shortened(text))
}

// isRole reports whether there is a role of a name. If the server does not say, there is none.
func (a *app) isRole(ctx context.Context, name string) bool {
	_, err := a.call(ctx, newGet("/roles"+pathSegment(name)))
	return err == nil
}

// privilegeWords are the privileges in the form that needs no quotes.
func privilegeWords() (words []string) {
	for _, p := range rota.Privileges {
		words = append(words, privilegeWord(string(p)))
	}
	return words
}

func privilegeWord(privilege string) string { return strings.ReplaceAll(privilege, " ", "_") }

// hintElsewhere prints how users still have privileges that a command did not revoke, because they have them on another job or
// through a role, and the commands that revoke them.
func (a *app) hintElsewhere(ctx context.Context, query url.Values, from []string) {
	for _, user := range from {
		grants, err := listOf(ctx, a, "/grants", url.Values{"user": {user}}, rota.PageMax, func(g api.Grant) (api.Grant, bool) { return g, true })
		if err != nil {
			return
		}
		for _, g := range grants {
			if g.Privilege != "" && slices.Contains(strings.Split(query.Get("privilege"), ","), string(g.Privilege)) {
				fmt.Fprintf(a.err, "hint: %s\n", sanitize(heldText(user, g, grants)))
			}
		}
	}
}

// heldText says how a user has a privilege. A role of which the user is not a member itself is revoked from another role, so
// that the privilege is taken from the role instead.
func heldText(user string, g api.Grant, all []api.Grant) string {
	what, command := privilegeText(string(g.Privilege), string(g.Job)), "rota revoke "+privilegeWord(string(g.Privilege))
	if g.Job != "" {
		command += " --job " + string(g.Job)
	} else {
		what += " on all jobs"
	}
	if g.Through == "" {
		return user + " has " + what + ": " + command + " --from " + user
	}
	if slices.ContainsFunc(all, func(m api.Grant) bool { return m.Role == g.Through && m.Through == "" }) {
		return user + " has " + what + " through the role " + string(g.Through) + ": rota role revoke " + string(g.Through) + " --from " + user
	}
	return user + " has " + what + " through the role " + string(g.Through) + ": " + command + " --from " + string(g.Through)
}
