package main

import "github.com/spf13/cobra"

func newJobLogsCommand(a *app) *cobra.Command {
	follow := false
	cmd := &cobra.Command{
		Use: "logs ID", Short: "Print the log of a job", Args: requireID("an ID"),
		Example: `  rota job logs 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60
  rota job logs ID -f    # follow it until the run ends`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.copyLog(cmd.Context(), args[0], follow, a.out)
		},
		ValidArgsFunction: a.completeNames("/jobs", "id"),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow the log until the run ends")
	return cmd
}
