package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

func newDirectCommand(a *app) *cobra.Command {
	var params paramFlags
	cmd := &cobra.Command{
		Use: "direct TYPE", Short: "Runs a job now, past the queue, and prints its result", Args: requireArgs("a TYPE"),
		Long: `Reserves a slot, runs a job in it at once, waits for its end and prints its result. If no slot comes free within
--wait it exits with 6 and nothing has run.`,
		Example: `  rota direct noop
  rota direct report.build --params '{"month": "2026-11"}' --wait 30s`,
		ValidArgsFunction: a.completeNames("/types", "name"),
	}
	params.flags(cmd)
	s := newBodyFlags(cmd)
	s.add("wait", "wait", "wait up to `DURATION` for a slot", asDuration)
	s.add("timeout", "timeout", "stop the run after `DURATION`", asDuration)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{"type": args[0]}
		if err := fillParams(a, body, "params", &params, s); err != nil {
			return err
		}
		answer, err := a.create(cmd.Context(), "/direct", body)
		if err != nil {
			return err
		}
		return a.printDirect(answer)
	}
	return cmd
}

// printDirect prints the result alone, as a program would, and fails if the run did.
func (a *app) printDirect(answer json.RawMessage) error {
	j, err := decode[httpapi.Job](answer)
	if err != nil {
		return err
	}
	if err := a.print(answer, func(w io.Writer) error {
		if j.Run == nil || nonNull(j.Run.Result) == "" {
			_, err := fmt.Fprintln(w, sanitize(j.ID.String()+" "+a.outcome(j)))
			return err
		}
		_, err := fmt.Fprintln(w, sanitize(string(j.Run.Result)))
		return err
	}); err != nil {
		return err
	}
	if j.State == string(rota.StateCompleted) {
		return nil
	}
	return &exitError{
		code: exitFailed, err: fmt.Errorf("the run was not completed: %s", firstNonEmpty(firstLineShort(runError(j)), "it is "+j.State)),
		hint: "rota job logs " + j.ID.String() + " shows what it wrote",
	}
}
