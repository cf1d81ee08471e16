package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newJobShowCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID|NAME", Short: "Show all details of a job",
		Long: `Show all details of a job. Instead of an id, 8 or more of its first characters are enough. A name, as lists show
it, stands for the last attempt of the latest execution of that name; otherwise it is that of a template, a schedule or a
type.`,
		Example: "  rota job show 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60\n  rota job show 01926a5e-7c3b\n  rota job show nightly",
	}
	onObject(a, cmd, "/jobs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := a.resolveJob(cmd.Context(), args[0], latest)
		if err != nil {
			return err
		}
		j, answer, err := fetch[api.Job](cmd.Context(), a, newGet("/jobs"+pathSegment(id)))
		if err != nil {
			return err
		}
		return a.print(answer, func(w io.Writer) {
			s := a.jobKeyValues(j)
			a.addSequel(cmd.Context(), s, j)
			a.printKeyValues(w, s)
		})
	}
	return cmd
}

// addSequel adds what is not part of a job itself: the retry of a failed attempt, and why a job that had not started was
// cancelled. Without an answer of the server, only these lines are missing.
func (a *app) addSequel(ctx context.Context, s *keyValues, j api.Job) {
	switch {
	case j.State == string(rota.StateFailed) && j.Attempt < j.MaxAttempts:
		e, _, err := a.execution(ctx, j.ID.String())
		if err != nil {
			return
		}
		for _, next := range e.Attempts {
			if next.RetryOf == j.ID {
				s.add("retried as", fmt.Sprintf("%s, attempt %d, %s", next.ID, next.Attempt, a.stateText(next)))
			}
		}
	case j.State == string(rota.StateCancelled) && j.Run == nil:
		query := url.Values{"execution": {j.ExecutionID.String()}, "act": {rota.AuditJobCancelled}, "limit": {"100"}}
		found, _, err := fetch[api.List[api.AuditEntry]](ctx, a, apiclient.Request{Method: http.MethodGet, Path: "/audit", Query: query})
		if err != nil {
			return
		}
		for _, e := range found.Items {
			if e.JobID == j.ID {
				s.add("cancelled", a.timestamp(e.At.Time)+byActor(e.Actor))
				s.add("because", string(e.Detail))
				return
			}
		}
	}
}
