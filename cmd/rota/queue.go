package main

import (
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newQueueCommand(a *app) *cobra.Command {
	var l listFlags
	list := &cobra.Command{
		Use: "list", Short: "List ready jobs in the order in which they start", Args: noArgs(),
		Example: "  rota queue list --limit 10",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.list(cmd.Context(), "/queue", nil, l)
			if err != nil {
				return err
			}
			t := newTable("ID", "^NAME", "PRIORITY", "POSITION", "QUEUED", "~PARAMS").mayDrop("POSITION", "PARAMS", "QUEUED", "PRIORITY")
			return printPage(a, found, "the queue is empty", t, func(j api.Job) []string {
				return []string{j.ID.String(), j.Name, fmt.Sprint(j.Priority), fmt.Sprint(j.Position), a.ago(j.QueuedAt.Time), string(j.Params)}
			})
		},
	}
	l.flags(list)
	return newParentCommand("queue", "List the queue of ready jobs", list)
}
