package main

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
)

// privilegeHelp lists the privileges in help.
const privilegeHelp = `PRIVILEGE is one of these, in either case, with spaces or underscores; several may be separated by commas:

  CREATE JOB            create jobs, templates and schedules
  ALTER JOB             change, pause, cancel, retry, move
  DROP JOB              delete and archive
  EXECUTE JOB           trigger, backfill, enqueue from a template
  VIEW JOB HISTORY      see runs, params, results and logs
  EXECUTE EXTERNAL JOB  create and run jobs that start commands
  ADMIN                 everything

With --job it applies to the template and the schedule of that name, otherwise to all. CREATE JOB and ADMIN cannot be
granted on one job.`

func newGrantCommand(a *app) *cobra.Command {
	var to []string
	job := ""
	cmd := &cobra.Command{
		Use: "grant PRIVILEGE [--job JOB] --to USER", Short: "Grant a privilege to users or roles, or list grants", DisableFlagsInUseLine: true,
		Long: "Grant a privilege, on one job or on all: rota grant PRIVILEGE [--job JOB] --to USER. rota role grant grants a role.\n\n" + privilegeHelp,
		Example: `  rota grant EXECUTE_JOB --job nightly --to bob
  rota grant EXECUTE JOB, VIEW JOB HISTORY --job nightly --to operators
  rota grant admin --to ann`,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: completePrivileges, SuggestionsMinimumDistance: 2,
	}
	privilegeFlags(a, cmd, &job)
	granteesFlag(a, cmd, &to, "to", "`USER` or role that gets the privilege (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		privileges, err := a.privilegeArgs(cmd, args)
		if err != nil {
			return err
		}
		body := map[string]any{"privileges": privileges, "to": to}
		if job != "" {
			body["job"] = job
		}
		return a.sendGrant(cmd, body, privilegeText(strings.Join(privileges, ", "), job))
	}
	list := newGrantListCommand(a)
	list.Aliases = append(list.Aliases, verbAliases[list.Name()]...)
	cmd.AddCommand(list)
	return cmd
}

func newRevokeCommand(a *app) *cobra.Command {
	var from []string
	job := ""
	cmd := &cobra.Command{
		Use: "revoke PRIVILEGE [--job JOB] --from USER", Short: "Revoke a privilege from users or roles", DisableFlagsInUseLine: true,
		Long: `Revoke a privilege; it ends with the next request. Without --job it revokes the grant on all jobs and keeps those on single
ones. A user may still have the privilege through a role: rota grant list --user USER. rota role revoke revokes a role.

` + privilegeHelp,
		Example: "  rota revoke EXECUTE_JOB --job nightly --from bob\n  rota revoke admin --from ann",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: completePrivileges,
	}
	privilegeFlags(a, cmd, &job)
	granteesFlag(a, cmd, &from, "from", "`USER` or role that loses the privilege (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		privileges, err := a.privilegeArgs(cmd, args)
		if err != nil {
			return err
		}
		query := url.Values{"privilege": {strings.Join(privileges, ",")}}
		if job != "" {
			query.Set("job", job)
		}
		return a.sendRevoke(cmd, query, from, privilegeText(strings.Join(privileges, ", "), job))
	}
	return cmd
}

func privilegeFlags(a *app, cmd *cobra.Command, job *string) {
	cmd.Flags().StringVar(job, "job", "", "only on the template and the schedule `JOB`")
	refuseEmpty(cmd, "job")
	completeJobs(a, cmd)
}

// completeJobs completes --job with the names of schedules and templates.
func completeJobs(a *app, cmd *cobra.Command) {
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(a.names("/schedules", "name"), a.names("/templates", "name")...), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("job", complete); err != nil {
		panic(err) // the flag is not declared: a bug in this program
	}
}

// completePrivileges offers the privileges in the form that needs no quotes.
func completePrivileges(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return privilegeWords(), cobra.ShellCompDirectiveNoFileComp
}

func privilegeText(privilege, job string) string {
	if job == "" {
		return privilege
	}
	return privilege + " on " + job
}

func newGrantListCommand(a *app) *cobra.Command {
	f := filters{}
	cmd := &cobra.Command{
		Use: "list", Short: "List privileges and roles that were granted",
		Long: `List privileges and roles that were granted. With --user the list also has what the user has through roles; the column THROUGH
names the role. Grants without an effect are left out, such as one on a job that was deleted.`,
		Example: "  rota grant list\n  rota grant list --user bob\n  rota grant list --job nightly",
	}
	f.add(cmd, "user", "what this `USER` or role has, also through roles")
	f.add(cmd, "job", "only privileges on the template or schedule `JOB`")
	completeJobs(a, cmd)
	return listing[api.Grant]{
		path: "/grants", filters: f, none: "no grants",
		heads: []string{"GRANTEE", "KIND", "PRIVILEGE", "^JOB", "?THROUGH", "BY", "SINCE"}, drop: []string{"SINCE", "BY", "KIND"},
		row: func(g api.Grant) []string {
			what, job := string(g.Privilege), string(g.Job)
			switch {
			case g.Role != "":
				what, job = "role "+string(g.Role), "-"
			case job == "":
				job = "all"
			}
			return []string{g.Grantee, strings.ToLower(g.Kind), what, job, string(g.Through), string(g.By), a.ago(g.Since.Time)}
		},
	}.command(a, cmd)
}
