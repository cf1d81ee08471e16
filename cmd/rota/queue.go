package main

import (
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newQueueCommand(a *app) *cobra.Command {
	list := listing[api.Job]{
		path: "/queue", none: "the queue is empty",
		heads: []string{"ID", "^NAME", "PRIORITY", "POSITION", "QUEUED", "~PARAMS"}, drop: []string{"POSITION", "PARAMS", "QUEUED", "PRIORITY"},
		row: func(j api.Job) []string {
			return []string{j.ID.String(), j.Name, fmt.Sprint(j.Priority), fmt.Sprint(j.Position), a.ago(j.QueuedAt.Time), string(j.Params)}
		},
	}
	return newParentCommand("queue", "List the queue of ready jobs", list.command(a, &cobra.Command{
		Use: "list", Short: "List ready jobs in the order in which they start", Example: "  rota queue list --limit 10",
	}))
}
