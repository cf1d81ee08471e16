package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
)

func (a *app) writeStats(w io.Writer, v api.Stats) {
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
	a.printKeyValues(w, s)
	if len(v.Types) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := newTable("TYPE", "QUEUED", "SCHEDULED", "BLOCKED", "RUNNING")
	for _, c := range v.Types {
		t.add(c.Type, fmt.Sprint(c.Queued), fmt.Sprint(c.Scheduled), fmt.Sprint(c.Blocked), fmt.Sprint(c.Running))
	}
	a.printTable(w, t)
}

func newReservationCommand(a *app) *cobra.Command {
	list := listing[api.Reservation]{
		path: "/reservations", none: "no reservations",
		heads: []string{"ID", "!STATUS", "NODE", "BY", "RESERVED", "ENDED", "JOB"}, drop: []string{"BY", "NODE", "ENDED", "RESERVED", "JOB"},
		row: func(r api.Reservation) []string {
			return []string{
				r.ID.String(), r.Status, r.Node, string(r.ReservedBy), a.ago(r.ReservedAt.Time), a.ago(r.EndedAt.Time), r.JobID.String(),
			}
		},
	}
	return newParentCommand("reservation", "List reservations of nodes for direct runs",
		list.command(a, &cobra.Command{Use: "list", Short: "List reservations, newest first", Example: "  rota reservation list"}))
}
