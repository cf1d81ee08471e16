package main

import (
	"fmt"
	"io"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newStatsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Show the number of queued, running and dead jobs", Args: noArgs(),
		Example: "  rota stats\n  watch -n 1 rota stats",
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := a.get(cmd.Context(), "/stats", nil)
			if err != nil {
				return err
			}
			s, err := decode[api.Stats](answer)
			if err != nil {
				return err
			}
			return a.print(answer, func(w io.Writer) error { return a.writeStats(w, s) })
		},
	}
}

func (a *app) writeStats(w io.Writer, v api.Stats) error {
	s := &keyValues{}
	oldest := ""
	if !v.Oldest.IsZero() {
		oldest = ", oldest " + a.ago(v.Oldest.Time)
	}
	s.add("queued", fmt.Sprint(v.Queued)+oldest)
	s.add("scheduled", fmt.Sprint(v.Scheduled))
	s.add("blocked", fmt.Sprint(v.Blocked))
	s.add("running", fmt.Sprintf("%d, %d of %d slots in use", v.Running, v.Workers.Running, v.Workers.Slots))
	if v.Workers.Abandoned > 0 {
		s.add("abandoned", fmt.Sprintf("%d: handlers that did not stop after cancellation", v.Workers.Abandoned))
	}
	s.add("dead letters", fmt.Sprint(v.Dead))
	s.add("schedules", fmt.Sprintf("%d enabled", v.Schedules))
	if err := a.printKeyValues(w, s); err != nil || len(v.Types) == 0 {
		return err
	}
	fmt.Fprintln(w)
	t := newTable("TYPE", "QUEUED", "SCHEDULED", "BLOCKED", "RUNNING")
	for _, c := range v.Types {
		t.add(c.Type, fmt.Sprint(c.Queued), fmt.Sprint(c.Scheduled), fmt.Sprint(c.Blocked), fmt.Sprint(c.Running))
	}
	return a.printTable(w, t)
}
