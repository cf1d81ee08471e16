package main

import (
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newAuditCommand(a *app) *cobra.Command {
	list := listing[api.AuditEntry]{
		path: "/audit", none: "the audit is empty", heads: []string{"SEQ", "WHEN", "ACTOR", "ACT", "~SUBJECT", "~DETAIL"},
		row: func(e api.AuditEntry) []string {
			subject := firstNonEmpty(string(e.Subject), e.JobID.String())
			return []string{fmt.Sprint(e.Seq), a.ago(e.At.Time), firstNonEmpty(string(e.Actor), "rota"), e.Act, subject, string(e.Detail)}
		},
	}
	return newParentCommand("audit", "Read the audit log: who changed what",
		list.command(a, &cobra.Command{Use: "list", Short: "List audit entries, newest first", Example: "  rota audit list --limit 20"}))
}
