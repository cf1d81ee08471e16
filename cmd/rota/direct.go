package main

import (
	"cmp"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func newDirectCommand(a *app) *cobra.Command {
	var params paramFlags
	var template string
	cmd := &cobra.Command{
		Use: "direct [TYPE]", Short: "Run a job now without queueing it, and print its result", Args: optionalArg("a TYPE"),
		Long: `Reserve a slot, run a job of a type or from a template in it at once, wait for its end and print its result. If no slot becomes
free within --wait, the command exits with 6 and nothing runs.`,
		Example: `  rota direct noop
  rota direct report.build --params '{"month": "2026-11"}' --wait 30s
  rota direct --template monthly-report -p month=2026-11`,
		ValidArgsFunction: a.completeNames("/types", "name"),
	}
	cmd.Flags().StringVar(&template, "template", "", "run the template `NAME` instead of a type")
	params.flags(cmd)
	s := newBodyFlags(cmd)
	s.add("wait", "wait", "DURATION", "longest wait for a free slot", asDuration)
	s.add("timeout", "timeout", "DURATION", "stop and fail the run if it takes longer", asDuration)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := typeOrTemplate("direct", cmp.Or(args...), template)
		if err != nil {
			return err
		}
		if err := fillParams(a, body, "params", &params, s); err != nil {
			return err
		}
		j, answer, err := create[api.Job](cmd.Context(), a, "/direct", body)
		if err != nil {
			return err
		}
		return a.printDirect(j, answer)
	}
	return cmd
}

// printDirect prints only the result and returns an error if the run failed.
func (a *app) printDirect(j api.Job, answer json.RawMessage) error {
	text := j.ID.String() + " " + a.outcome(j, j.StartedAt.Time)
	if j.Run != nil && nonNull(j.Run.Result) != "" {
		text = string(j.Run.Result)
	}
	if err := a.printMessage(answer, "%s", text); err != nil || j.State == string(rota.StateCompleted) {
		return err
	}
	why := cmp.Or(firstLineShort(runError(j)), "its state is "+j.State)
	return failf(exitFailed, endHint(j, j.ID), "the job did not complete: %s", why)
}
