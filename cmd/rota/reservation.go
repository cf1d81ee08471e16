package main

import (
	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

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
