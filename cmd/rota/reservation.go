package main

import (
	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newReservationCommand(a *app) *cobra.Command {
	var l listFlags
	list := &cobra.Command{
		Use: "list", Short: "List reservations, newest first", Args: noArgs(), Example: "  rota reservation list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.list(cmd.Context(), "/reservations", nil, l)
			if err != nil {
				return err
			}
			t := newTable("ID", "!STATUS", "NODE", "BY", "RESERVED", "ENDED", "JOB").mayDrop("BY", "NODE", "ENDED", "RESERVED", "JOB")
			return printPage(a, found, "no reservations", t, func(r api.Reservation) []string {
				return []string{
					r.ID.String(), r.Status, r.Node, string(r.ReservedBy), a.ago(r.ReservedAt.Time), a.ago(r.EndedAt.Time), r.JobID.String(),
				}
			})
		},
	}
	l.flags(list)
	return newParentCommand("reservation", "List reservations of nodes for direct runs", list)
}
