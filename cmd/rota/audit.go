package main

import (
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newAuditCommand(a *app) *cobra.Command {
	var l listFlags
	list := &cobra.Command{
		Use: "list", Short: "List audit entries, newest first", Args: noArgs(), Example: "  rota audit list --limit 20",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.list(cmd.Context(), "/audit", nil, l)
			if err != nil {
				return err
			}
			t := newTable("SEQ", "WHEN", "ACTOR", "ACT", "~SUBJECT", "~DETAIL")
			return printPage(a, found, "the audit is empty", t, func(e api.AuditEntry) []string {
				subject := firstNonEmpty(string(e.Subject), e.JobID.String())
				return []string{fmt.Sprint(e.Seq), a.ago(e.At.Time), firstNonEmpty(string(e.Actor), "rota"), e.Act, subject, string(e.Detail)}
			})
		},
	}
	l.flags(list)
	return newParentCommand("audit", "Read the audit log: who changed what", list)
}
