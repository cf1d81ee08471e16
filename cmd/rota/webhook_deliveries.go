package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

func newWebhookDeliveriesCommand(a *app) *cobra.Command {
	var l listFlags
	f := filters{}
	cmd := &cobra.Command{
		Use: "deliveries", Short: "Lists deliveries to webhooks, newest first", Args: noArgs(),
		Long: `Lists each attempt to deliver: the event, the job or schedule it is about, and of one that waits when it is tried.
Deliveries are jobs of type ` + rota.TypeWebhook + `, which other lists leave out: rota job show, retry and explain take their
ids, and rota dead list --type ` + rota.TypeWebhook + ` shows those that were given up.`,
		Example: `  rota webhook deliveries
  rota webhook deliveries --state failed
  rota webhook deliveries --state scheduled     # those that are tried again later`,
	}
	f.add(cmd, "state", "only those in this `STATE`", "scheduled", "queued", "running", "completed", "failed", "cancelled")
	l.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query := f.query()
		query.Set("type", rota.TypeWebhook)
		found, err := a.list(cmd.Context(), "/jobs", query, l)
		if err != nil {
			return err
		}
		t := newTable("ID", "EVENT", "ABOUT", "!STATE", "ATTEMPT", "NEXT TRY", "SINCE", "~URL", "~ERROR").
			mayDrop("SINCE", "ERROR", "ATTEMPT", "NEXT TRY", "ABOUT")
		return printPage(a, found, "no deliveries", t, func(j httpapi.Job) []string {
			d, _ := rota.ParseDelivery(j.Params) // what is none has neither event nor address
			return []string{
				j.ID.String(), string(d.Event), subjectOf(&d), j.State, fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts), a.nextAttempt(j), a.jobSince(j), d.URL, runError(j),
			}
		})
	}
	return cmd
}

// subjectOf is what the event of a delivery happened to, by the id or name that other commands take.
func subjectOf(d *rota.Delivery) string {
	for _, id := range []*rota.ID{d.JobID, d.GroupID, d.ReservationID} {
		if id != nil {
			return id.String()
		}
	}
	return firstNonEmpty(d.Schedule, "-")
}

// nextAttempt is when an attempt that waits begins. One that ended is followed by another, which has a line of its own.
func (a *app) nextAttempt(j httpapi.Job) string {
	switch rota.State(j.State) {
	case rota.StateScheduled:
		return a.ago(j.RunAt.Time)
	case rota.StateQueued:
		return "now"
	}
	return "-"
}
