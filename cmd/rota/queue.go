package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
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

func newJobMoveCommand(a *app) *cobra.Command {
	var before, after string
	var top, bottom bool
	cmd := &cobra.Command{
		Use: "move ID|NAME", Short: "Move a job in the queue", Args: requireArgs("an ID or a NAME"),
		Long: `Move a job in the queue: before or after another job, or to the top or the bottom of its priority. Next to a job of
another priority it gets that priority.`,
		Example: `  rota job move ID --top
  rota job move ID --before OTHER-ID`,
		ValidArgsFunction: a.completeNames("/queue", "id"),
	}
	flags := cmd.Flags()
	flags.StringVar(&before, "before", "", "move it before the job with this `ID`")
	flags.StringVar(&after, "after", "", "move it after the job with this `ID`")
	flags.BoolVar(&top, "top", false, "move it to the top of its priority")
	flags.BoolVar(&bottom, "bottom", false, "move it to the bottom of its priority")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var places []map[string]string
		for _, place := range []struct {
			given      bool
			key, value string
		}{{before != "", "before", before}, {after != "", "after", after}, {top, "to", "top"}, {bottom, "to", "bottom"}} {
			if place.given {
				places = append(places, map[string]string{place.key: place.value})
			}
		}
		if len(places) != 1 {
			return usagef("see rota job move --help", "job move needs one of --before, --after, --top and --bottom")
		}
		for _, place := range []string{"before", "after"} {
			if places[0][place] == "" {
				continue
			}
			other, err := a.resolveJob(cmd.Context(), places[0][place], onlyWaiting)
			if err != nil {
				return err
			}
			places[0][place] = other
		}
		id, err := a.resolveJob(cmd.Context(), args[0], onlyWaiting)
		if err != nil {
			return err
		}
		return a.printPosition(cmd.Context(), newPost("/jobs"+pathSegment(id)+"/move", places[0]))
	}
	return cmd
}

func newJobPriorityCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "priority ID|NAME N", Short: "Change the priority of a queued job", Args: requireArgs("an ID or a NAME", "a priority N"),
		Example:           "  rota job priority ID 10",
		ValidArgsFunction: a.completeNames("/queue", "id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := asInt(nil, "priority", args[1])
			if err != nil {
				return err
			}
			id, err := a.resolveJob(cmd.Context(), args[0], onlyWaiting)
			if err != nil {
				return err
			}
			body := map[string]any{"priority": n}
			return a.printPosition(cmd.Context(), apiclient.Request{Method: http.MethodPatch, Path: "/jobs" + pathSegment(id), Body: body})
		},
	}
}

// printPosition sends a request and prints the new priority and position of the job.
func (a *app) printPosition(ctx context.Context, r apiclient.Request) error {
	j, answer, err := fetch[api.Job](ctx, a, r)
	if err != nil {
		return err
	}
	return a.printMessage(answer, "%s has priority %d, position %d", j.ID, j.Priority, j.Position)
}
